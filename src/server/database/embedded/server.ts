/**
 * The embedded PostgreSQL in the data directory: a connection string and a close function. One process supervises a
 * data directory; operator commands and worker processes join its running server.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import type { Logger } from '#server/log.ts';

import { clusterPaths, DATABASE_NAME, lockDirectory, type ClusterPaths, type DirectoryLock } from './cluster.ts';
import { endpointKind, ownerUrl } from './endpoint.ts';
import { readLockFile } from './postmaster.ts';
import { superviseServer } from './supervisor.ts';

export type EmbeddedOptions = {
  dataDir: string;
  log: Logger;
  /** If another process already serves this directory: refuse, or join it (operator commands, worker processes). */
  whenRunning?: 'refuse' | 'join';
  /** How long to wait for a process that stops. Tests on a busy machine wait longer. */
  lockWaitMs?: number;
  /** Settings of PostgreSQL that override those of `supervisor.ts`. Tests trade durability for speed. */
  settings?: Record<string, string>;
};

export type EmbeddedServer = {
  /** Connects as the owner. It carries the password: never log it. */
  url: string;
  close(): Promise<void>;
};

/** A restarting server may take this long to release its directory. */
const LOCK_WAIT_MS = 3_000;
const JOIN_WAIT_MS = 30_000;
const POLL_MS = 50;

export class AlreadyRunningError extends Error {
  constructor(dataDir: string) {
    super(`Hustle Forge is already running on ${dataDir}. Stop it first, or set DATA_DIR to another folder.`);
  }
}

/** @throws AlreadyRunningError, or an Error for the operator if PostgreSQL does not start. */
export async function openEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const paths = clusterPaths(dataDir);
  const since = Date.now();
  for (;;) {
    const lock = await lockDirectory(dataDir);
    if (lock) return startServer(dataDir, paths, lock, options);
    if (options.whenRunning === 'join') {
      const running = await joinServer(paths);
      if (running) return running;
    }
    const maxWaitMs = options.whenRunning === 'join' ? JOIN_WAIT_MS : (options.lockWaitMs ?? LOCK_WAIT_MS);
    if (Date.now() - since > maxWaitMs) throw new AlreadyRunningError(dataDir);
    await delay(POLL_MS);
  }
}

async function startServer(
  dataDir: string,
  paths: ClusterPaths,
  lock: DirectoryLock,
  { log, settings = {} }: EmbeddedOptions,
): Promise<EmbeddedServer> {
  try {
    const { endpoint, stop } = await superviseServer(dataDir, log, settings);
    const close = async () => {
      await stop();
      await lock.release();
    };
    try {
      await ensureDatabase(await ownerUrl(paths, endpoint, 'postgres'));
      return { url: await ownerUrl(paths, endpoint), close };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Joins another process's server, or returns null while that server is not ready. `close` leaves the server running.
 */
async function joinServer(paths: ClusterPaths): Promise<EmbeddedServer | null> {
  const running = await readLockFile(paths.cluster);
  if (!running?.ready) return null;
  const endpoint = { kind: endpointKind(paths.cluster), port: running.port };
  return { url: await ownerUrl(paths, endpoint), close: () => Promise.resolve() };
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE_NAME]);
    if (rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
  } finally {
    await client.end();
  }
}
