/** `npm run backup -- [FILE]`: writes a backup while the server serves. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGE_VERSION } from '../package-version.ts';
import { readConfig } from '../config/config.ts';
import { checkRecipients, readKeyFiles } from './key-files.ts';
import { UsageError } from './archive-format.ts';
import {
  formatBytes,
  formatSeconds,
  openOwnerUrl,
  requireDatabase,
  runAsProcess,
  type CommandDeps,
} from './command-line.ts';
import { createBackup, type CreatedBackup } from './create-backup.ts';
import { backupName, removeAbandonedFiles, removeOldBackups, writeSummary } from './folder.ts';

const USAGE = `Usage: npm run backup -- [FILE] [options]

Writes a backup while the server runs. FILE is a file or a folder; without it, a new file in BACKUP_DIR.

  --recipient KEY   encrypt to this public age key (age1...); may be repeated; otherwise BACKUP_AGE_RECIPIENT
  --keep N          afterwards delete all but the newest N backups in the folder; otherwise BACKUP_KEEP
  --quiet           print failures and warnings only`;

export async function runBackup(args: readonly string[], deps: CommandDeps): Promise<string> {
  const { target, recipient, keep: keepOption } = readArguments(args);
  const config = readConfig(deps.env);
  const recipients = recipient ?? config.backup.recipients;
  await checkRecipients(recipients);
  const keep = keepOption === undefined ? config.backup.keep : readKeep(keepOption);
  requireDatabase(config);

  const createdAt = deps.now();
  const name = backupName(createdAt, recipients.length > 0);
  const folder = target === undefined ? config.backup.dir : (await isFolder(target)) ? resolve(target) : null;
  if (folder === null && keepOption !== undefined) throw new UsageError(`--keep needs a folder\n\n${USAGE}`);
  const file = folder === null ? resolve(target!) : join(folder, name);
  if (folder !== null) await removeAbandonedFiles(folder, createdAt);

  const keyFiles = await readKeyFiles(config);
  const startedAt = performance.now();
  const database = await openOwnerUrl(config, { log: deps.log, whenRunning: 'join' });
  let created: CreatedBackup;
  try {
    created = await createBackup({
      ...{ ownerUrl: database.url, file, recipients, keyFiles, program: PACKAGE_VERSION, createdAt },
      ...{ signal: deps.signal, onProgress: deps.onProgress },
    });
  } finally {
    await database.close();
  }
  const tables = Object.values(created.manifest.tables);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const summary = {
    createdAt: createdAt.toISOString(),
    finishedAt: deps.now().toISOString(),
    program: PACKAGE_VERSION,
  };
  const { bytes, sha256 } = created;
  await writeSummary(file, { ...summary, encrypted: recipients.length > 0, bytes, sha256, rows });
  const removed = folder === null || keep === null ? [] : await removeOldBackups(folder, keep);

  if (recipients.length === 0) {
    deps.warn(
      'Warning: this backup is not encrypted. Anyone who reads it can read every journal and sign in as any user. ' +
        'Keep it where only you can read it, or set BACKUP_AGE_RECIPIENT.',
    );
  }
  for (const table of created.leftOut) {
    deps.warn(`Warning: ${table} is not in the backup: Hustle Forge did not make it, and service_role cannot read it.`);
  }
  if (keyFiles.size === 0 && !created.manifest.tables['auth.signing_keys']?.rows) {
    deps.warn('Warning: there is no signing key yet, so the backup has none. Start the server once.');
  }
  const protection = recipients.length === 0 ? 'not encrypted' : `encrypted to ${recipients.length} age key(s)`;
  const contents = tables.reduce((sum, table) => sum + table.bytes, 0);
  return [
    `Backup written: ${file}`,
    `  ${tables.length} tables, ${rows} rows, ${formatBytes(contents)} in a file of ${formatBytes(bytes)}, ` +
      formatSeconds(performance.now() - startedAt),
    `  ${[protection, ...keyFiles.keys()].join(', with ')}`,
    ...removed.map((old) => `  deleted the older ${old}`),
  ].join('\n');
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { recipient: { type: 'string', multiple: true }, keep: { type: 'string' }, help: { type: 'boolean' } },
    });
    if (values.help || positionals.length > 1) throw new UsageError(USAGE);
    return { ...values, target: positionals[0] };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function readKeep(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`--keep must be a whole number from 1, not "${text}"`);
}

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith('/')) return true;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

if (import.meta.main) await runAsProcess('backup', runBackup);
