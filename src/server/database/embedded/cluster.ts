/**
 * The folder `postgres` under the data directory: PostgreSQL's own files, the owner's password and the server's log.
 */
import { execFile } from 'node:child_process';
import { randomBytes, createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
  realpath,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { childEnvironment, type ServerUser } from './server-user.ts';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';

/**
 * Owns the database and everything in it. Migrations, the set-up of the job tables, restores and operator commands use
 * this role; no request does.
 */
export const OWNER = 'hustle_forge';
export const DATABASE_NAME = 'hustle_forge';

const LOG_MAX_BYTES = 10 * 1024 * 1024;

export type ClusterPaths = {
  folder: string;
  /** PostgreSQL's data directory. The user that runs PostgreSQL owns it. It holds the Unix socket, if there is one. */
  cluster: string;
  passwordFile: string;
  logFile: string;
};

export function clusterPaths(dataDir: string, folderName = 'postgres'): ClusterPaths {
  const folder = join(dataDir, folderName);
  return {
    folder,
    cluster: join(folder, 'cluster'),
    passwordFile: join(folder, 'owner-password'),
    logFile: join(folder, 'server.log'),
  };
}

/** Whether an embedded database was created below `dataDir`. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(clusterPaths(dataDir).cluster, 'PG_VERSION'));

/**
 * The path by which the server user reaches the cluster. That user may lack permission to traverse the path from `/`.
 * So on Linux it is the child's working directory, which is set before the child drops root.
 */
export function clusterAddress(cluster: string, user: ServerUser): string {
  return user !== null && process.platform === 'linux' ? '/proc/self/cwd' : cluster;
}

/** Returns the major version of PostgreSQL that created the cluster, or null if there is no cluster. */
export async function clusterVersion(dataDir: string): Promise<number | null> {
  const { cluster } = clusterPaths(dataDir);
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Error(`${cluster} cannot be read: it was made by another user. Start as that user again.`, {
      cause: error,
    });
  });
  return text === null ? null : Number(text);
}

/** Creates the cluster. The caller holds the directory lock and has found no cluster. */
export async function createCluster(dataDir: string, binaries: Binaries, user: ServerUser): Promise<void> {
  // Create in a temporary folder and rename, so an interrupted start leaves no partial cluster.
  const unfinished = clusterPaths(dataDir, 'postgres.unfinished');
  await rm(unfinished.folder, { recursive: true, force: true });
  await mkdir(unfinished.cluster, { recursive: true, mode: 0o700 });
  await writeFile(unfinished.passwordFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  if (user) {
    await chmod(unfinished.folder, 0o711);
    await chown(unfinished.cluster, user.uid, user.gid);
    // initdb reads the password file as the server user, who already has full access to the cluster.
    await chown(unfinished.passwordFile, user.uid, user.gid);
  }
  const address = clusterAddress(unfinished.cluster, user);
  await promisify(execFile)(
    binaries.initdb,
    [
      '-D',
      address,
      '--username',
      OWNER,
      '--auth',
      'scram-sha-256',
      '--pwfile',
      `${address}/../owner-password`,
      // The built-in locale sorts text and changes its case in the same way on every machine, whatever its C library.
      '--encoding',
      'UTF8',
      '--locale-provider',
      'builtin',
      '--builtin-locale',
      'C.UTF-8',
      '--locale',
      'C',
      '--no-instructions',
    ],
    { ...user, cwd: unfinished.cluster, env: childEnvironment() },
  );
  await rename(unfinished.folder, clusterPaths(dataDir).folder);
}

/**
 * Moves the text of PostgreSQL's log file to `server.log.1` if it is large. The file itself stays, because a running
 * PostgreSQL appends to it. What PostgreSQL writes between copy and truncation is lost.
 */
export async function rotateLog({ logFile }: ClusterPaths): Promise<void> {
  const { size } = await stat(logFile).catch(() => ({ size: 0 }));
  if (size <= LOG_MAX_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile);
}

/**
 * An exclusive lock on a data directory: a listening socket. The system grants the socket's name to one process.
 *
 * On Linux and Windows the system releases the name when the process ends, even after kill -9. Elsewhere the name is
 * a file that stays; `lockDirectory` removes it if nobody listens on it. A process id in a file would not do, because
 * ids are reused. On Linux, processes in different network namespaces do not see each other's lock.
 */
export type DirectoryLock = { release(): Promise<void> };

/** Acquires the lock, or returns null when another process holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock | null> {
  const name = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex')
    .slice(0, 32);
  if (process.platform === 'linux') return listen(`\0hustle-forge-${name}`);
  if (process.platform === 'win32') return listen(`\\\\.\\pipe\\hustle-forge-${name}`);
  const path = join(tmpdir(), `hustle-forge-${name}.sock`);
  const lock = await listen(path);
  if (lock || (await answers(path))) return lock;
  await unlink(path).catch(() => undefined);
  return listen(path);
}

function listen(path: string): Promise<DirectoryLock | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(path, () => {
      server.unref();
      resolve({ release: () => new Promise((released) => server.close(() => released())) });
    });
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
