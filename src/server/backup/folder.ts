/** The folder of the backups: names, the summary beside each backup, and how many are kept. */
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '#server/parse-json.ts';

const BACKUP_NAME = /^hustle-forge-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.tar\.zst(?:\.age)?$/;
const UNFINISHED_NAME = /^\.hustle-forge-\d{8}T\d{6}Z\.tar\.zst(?:\.age)?\.\d+\.unfinished$/;
/** An unfinished file of this age was left by a killed process: a running one writes to its file all the time. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/**
 * The content of `<backup>.json`. With it, a monitor needs neither the private key nor the gigabytes of the backup. It
 * is not secret, and a restore does not need it.
 */
export type Summary = {
  createdAt: string;
  finishedAt: string;
  program: string;
  encrypted: boolean;
  /** The size of the backup's file. */
  bytes: number;
  sha256: string;
  rows: number;
};

export type StoredBackup = {
  file: string;
  createdAt: Date;
  bytes: number;
  /** Null when it is missing, such as for a copied backup, or unusable. */
  summary: Summary | null;
};

export function backupName(createdAt: Date, isEncrypted: boolean): string {
  const stamp = createdAt.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `hustle-forge-${stamp}.tar.zst${isEncrypted ? '.age' : ''}`;
}

export const summaryFile = (file: string): string => `${file}.json`;

/** The newest first. An empty list when the folder does not exist. */
export async function listBackups(folder: string): Promise<StoredBackup[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const backups = names.filter((name) => BACKUP_NAME.test(name)).toSorted();
  return Promise.all(
    backups.toReversed().map(async (name) => {
      const file = join(folder, name);
      const { size } = await stat(file);
      return { file, createdAt: timeOf(name), bytes: size, summary: await readSummary(file) };
    }),
  );
}

function timeOf(name: string): Date {
  const [, year, month, day, hour, minute, second] = BACKUP_NAME.exec(name)!;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export async function readSummary(file: string): Promise<Summary | null> {
  const text = await readFile(summaryFile(file), 'utf8').catch(() => null);
  const summary = text === null ? undefined : (parseJson(text) as Partial<Summary> | undefined);
  return typeof summary?.sha256 === 'string' && typeof summary.bytes === 'number' ? (summary as Summary) : null;
}

export async function writeSummary(file: string, summary: Summary): Promise<void> {
  const temporary = `${summaryFile(file)}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(summary, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, summaryFile(file));
}

/** Deletes all but the newest backups, and returns the deleted files. Other files of the folder stay. */
export async function removeOldBackups(folder: string, keep: number): Promise<string[]> {
  const removed = (await listBackups(folder)).slice(keep).map(({ file }) => file);
  for (const file of removed) {
    await rm(file, { force: true });
    await rm(summaryFile(file), { force: true });
  }
  return removed;
}

export async function removeAbandonedFiles(folder: string, now: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!UNFINISHED_NAME.test(name)) continue;
    const file = join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
    if (now.getTime() - mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true });
  }
}

/** Makes the new names of files durable. No-op on Windows, which cannot open a folder. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
