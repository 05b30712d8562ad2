/** Shared by the commands `backup` and `restore`: settings, progress, signals and exit codes. */
import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { hasCluster } from '../database/embedded/cluster.ts';
import { createOwnerFinder } from '../database/connection/primary-finder.ts';
import { openEmbeddedServer, type EmbeddedServer } from '../database/embedded/server.ts';
import { createLog, type Logger } from '../log.ts';
import { BackupError, UsageError, type OnProgress, type Progress } from './archive-format.ts';

/** How often progress is shown: a terminal's line is rewritten often. In a mail of cron, a line a minute is enough. */
const TERMINAL_INTERVAL_MS = 200;
const LINE_INTERVAL_MS = 60_000;

export type Environment = Readonly<Record<string, string | undefined>>;

export type CommandDeps = {
  /** The environment with the settings; by default `process.env`. */
  env?: Environment | undefined;
  now: () => Date;
  signal: AbortSignal;
  onProgress: OnProgress;
  /** Prints warnings. */
  warn(line: string): void;
  log: Logger;
  /** Migrations of another version of the program, for tests. */
  migrationsFolder?: URL;
};

/** Returns the text to print. Throws a UsageError, a BackupError or an error of the database or the file system. */
export type RunCommand = (args: readonly string[], deps: CommandDeps) => Promise<string>;

/**
 * The owner's connection string to the configured database; of several hosts, to the one that accepts writes. The
 * embedded database is started. If it is running already, `whenRunning` decides between joining it and an error.
 */
export async function openOwnerUrl(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { log, whenRunning }: { log: Logger; whenRunning: 'refuse' | 'join' },
): Promise<EmbeddedServer> {
  if (databaseUrl === null) return openEmbeddedServer({ dataDir, log, whenRunning });
  return { url: (await createOwnerFinder(databaseUrl.reveal()).findAtStart()).url, close: () => Promise.resolve() };
}

/** @throws BackupError when there is no database yet: `openOwnerUrl` would create an empty one. */
export function requireDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl !== null || hasCluster(dataDir)) return;
  throw new BackupError(
    `there is no database in ${dataDir}, and DATABASE_URL is not set: set DATA_DIR or DATABASE_URL`,
  );
}

export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return step === 0 ? `${bytes} bytes` : `${(bytes / 1000 ** step).toFixed(1)} ${units[step]}`;
}

export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

/** Threat: a forged archive names parts and versions in control sequences, which change the operator's terminal. */
const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '?');

/**
 * Runs a command as the process: exits with 0 when it is done, 1 when it failed, 2 for wrong arguments, 130 after
 * Ctrl-C or another signal that ends it. Failures go to standard error.
 */
export async function runAsProcess(name: string, run: RunCommand): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const args = process.argv.slice(2);
  const isQuiet = args.includes('--quiet');
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupted.abort(new BackupError('interrupted')));
  }
  const progress = isQuiet ? null : createProgressPrinter(process.stderr);
  const deps: CommandDeps = {
    now: () => new Date(),
    signal: interrupted.signal,
    onProgress: (step) => progress?.show(step),
    warn: (line) => {
      progress?.clear();
      process.stderr.write(`${printable(line)}\n`);
    },
    log: createLog('warn'),
  };
  try {
    const text = await run(
      args.filter((arg) => arg !== '--quiet'),
      deps,
    );
    progress?.clear();
    if (!isQuiet) process.stdout.write(`${printable(text)}\n`);
  } catch (error) {
    progress?.clear();
    const reason = printable(error instanceof Error ? error.message : String(error));
    process.stderr.write(error instanceof UsageError ? `${reason}\n` : `The ${name} failed: ${reason}\n`);
    process.exitCode = error instanceof UsageError ? 2 : interrupted.signal.aborted ? 130 : 1;
  }
}

type Terminal = { isTTY?: boolean; write(text: string): unknown };

function createProgressPrinter(out: Terminal) {
  const intervalMs = out.isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS;
  // A log file keeps all lines, so a run shorter than the interval prints none.
  let shownAt = out.isTTY ? -Infinity : Date.now();
  return {
    show({ doing, bytes }: Progress): void {
      const now = Date.now();
      if (now - shownAt < intervalMs) return;
      shownAt = now;
      const line = bytes === 0 ? doing : `${doing}: ${formatBytes(bytes)}`;
      out.write(out.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    clear(): void {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}
