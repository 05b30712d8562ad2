/**
 * An exclusive lock on a data directory: a listening socket. The system grants the socket's name to one process.
 *
 * On Linux and Windows the system releases the name when the process ends, even after kill -9. Elsewhere the name is
 * a file that stays; `lockDirectory` removes it if nobody listens on it. A process id in a file would not do, because
 * ids are reused. On Linux, processes in different network namespaces do not see each other's lock.
 */
import { createHash } from 'node:crypto';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
