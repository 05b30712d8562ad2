/** `npm run restore -- FILE`: restores a backup into the configured database, or only verifies it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { readIdentities, planKeyFiles } from './key-files.ts';
import { isEncrypted, verifyArchive, type Source, type VerifiedArchive } from './read-archive.ts';
import { PACKAGE_VERSION } from '../package-version.ts';
import { readConfig } from '../config/config.ts';
import { BackupError, UsageError } from './archive-format.ts';
import { formatBytes, formatSeconds, openOwnerUrl, runAsProcess, type CommandDeps } from './command-line.ts';
import { readSummary } from './folder.ts';
import { restoreBackup, type RestoreResult } from './restore-backup.ts';

const USAGE = `Usage: npm run restore -- FILE [options]

Restores a backup into the database of DATABASE_URL, or into the embedded one in DATA_DIR. Stop the server first.

  --identity KEYFILE   the file with the private age key, for an encrypted backup
  --replace            delete what the database holds
  --check              verify the file and change nothing
  --quiet              print failures and warnings only`;

export async function runRestore(args: readonly string[], deps: CommandDeps): Promise<string> {
  const { file, identity, replace = false, check = false } = readArguments(args);
  if (check && identity === undefined && (await isReadableAndEncrypted(file))) return checkUnopened(file);
  const identities = identity === undefined ? null : await readIdentities(identity);
  const source: Source = {
    file,
    identities,
    signal: deps.signal,
    onRead: (bytes) => deps.onProgress({ doing: 'verifying the file', bytes }),
  };
  const startedAt = performance.now();
  const archive = await verifyArchive(source);
  if (check) return `The backup is whole: ${file}\n${describe(archive)}`;

  const config = readConfig(deps.env);
  const hasStoredKeys = Boolean(archive.manifest.tables['auth.signing_keys']?.rows);
  const keyPlacement = await planKeyFiles(archive.files, config, { replace, now: deps.now(), hasStoredKeys });
  const database = await openOwnerUrl(config, { log: deps.log, whenRunning: 'refuse' });
  let restored: RestoreResult;
  try {
    restored = await restoreBackup({
      ...{ ownerUrl: database.url, source, archive, keyPlacement, replace, program: PACKAGE_VERSION },
      ...{ log: deps.log, signal: deps.signal, onProgress: deps.onProgress },
      migrationsFolder: deps.migrationsFolder,
    });
  } finally {
    await database.close();
  }
  for (const name of restored.unknownTables) {
    deps.warn(`Warning: ${name} was left out, because no migration of Hustle Forge makes it. It is still in the file.`);
  }
  for (const { file: placed, setting } of restored.keyFiles) {
    if (setting !== null) deps.warn(`Set ${setting}=${placed}: the backup has this key.`);
  }
  if (config.auth.signingKeyFile !== null && hasStoredKeys && archive.files.get('signing-key.json') === undefined) {
    deps.warn(
      'Warning: the backup has its signing keys in the database, but AUTH_SIGNING_KEY_FILE is set here. Unless that file ' +
        'has the same keys, unset it: otherwise users are signed out and two-step secrets cannot be read.',
    );
  }
  return [
    `Restored and compared with the backup: ${file}`,
    describe(archive),
    ...restored.keyFiles.map(({ file: placed }) => `  wrote ${placed}`),
    `  ${formatSeconds(performance.now() - startedAt)}`,
  ].join('\n');
}

function describe({ header, manifest }: VerifiedArchive): string {
  const tables = Object.values(manifest.tables);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = formatBytes(tables.reduce((sum, table) => sum + table.bytes, 0));
  const files = Object.keys(manifest.files);
  return [
    `  made ${header.createdAt} by version ${header.program} from PostgreSQL ${header.postgres}`,
    `  ${tables.length} tables, ${rows} rows, ${bytes}${files.length > 0 ? `, with ${files.join(' and ')}` : ''}`,
  ].join('\n');
}

const isReadableAndEncrypted = (file: string): Promise<boolean> => isEncrypted(file).catch(() => false);

/** Checks an encrypted backup without its private key: compares its SHA-256 with the summary beside it. */
async function checkUnopened(file: string): Promise<string> {
  const summary = await readSummary(file);
  if (summary === null) throw new BackupError(`${file} is encrypted: name the private key with --identity FILE`);
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  if (digest.digest('hex') !== summary.sha256) throw new BackupError(`${file}: it was changed or is damaged`);
  return `The file is as it was written ${summary.finishedAt}: ${file}\n  Only --identity FILE also tries the key.`;
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        identity: { type: 'string' },
        replace: { type: 'boolean' },
        check: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    if (values.help || positionals.length !== 1) throw new UsageError(USAGE);
    return { ...values, file: resolve(positionals[0]!) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

if (import.meta.main) await runAsProcess('restore', runRestore);
