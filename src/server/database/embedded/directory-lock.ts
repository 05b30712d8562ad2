/**
 * One process at a time looks after a data directory.
 *
 * A lock file cannot promise that: after a kill -9 it stays, and process numbers come back. So the lock is a listening
 * socket whose name the kernel gives to one process alone and takes back when that process ends, however it ends.
 */
import { createHash } from 'node:crypto';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type DirectoryLock = { release(): Promise<void> };

/** Takes the lock, or answers null when another process has it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock | null> {
  const name = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex')
    .slice(0, 32);
  if (process.platform === 'linux') return listen(`\0hustle-forge-${name}`);
  if (process.platform === 'win32') return listen(`\\\\.\\pipe\\hustle-forge-${name}`);
  // Elsewhere the name is a file, which stays after a kill -9: nobody answers behind it then.
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
