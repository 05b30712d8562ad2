/** Checks of files on this machine: free space, permissions, keys and backups. */
import { X509Certificate } from 'node:crypto';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileKeySource, readKeys, loadSamlKey } from '../auth/keys/key-file.ts';
import { generatedKeyFile } from '../auth/keys/stored-keys.ts';
import { checkRecipients } from '../backup/key-files.ts';
import { listBackups, summaryFile } from '../backup/folder.ts';
import { formatBytes } from '../backup/command-line.ts';
import type { Config } from '../config/config.ts';
import { clusterPaths } from '../database/embedded/cluster.ts';
import { fault, off, ok, reasonOf, warning, type Check, type Finding } from './check.ts';

const MIN_FREE_BYTES = 200_000_000;
const LOW_FREE_BYTES = 2_000_000_000;
const LOW_FREE_SHARE = 0.1;
const GROUP_OR_OTHER_ACCESS = 0o077;
const HOUR_MS = 3_600_000;
/** A day, and two hours for the backup itself. If the newest backup is older, a nightly run has failed. */
const MAX_BACKUP_AGE_MS = 26 * HOUR_MS;
const FAULTY_BACKUP_AGE_MS = 7 * 24 * HOUR_MS;
const CERTIFICATE_WARNING_MS = 30 * 24 * HOUR_MS;

export const diskCheck = ({ dataDir, databaseUrl, backup }: Config, readFree: typeof statfs = statfs): Check => ({
  name: 'disk',
  async run() {
    const folders = new Map([[dataDir, databaseUrl === null ? 'the database' : 'DATA_DIR']]);
    folders.set(backup.dir, 'the backups');
    const devices = new Set<number>();
    const findings: Finding[] = [];
    for (const [folder, what] of folders) {
      const existing = await nearestExisting(folder);
      const found = await stat(existing);
      if (!found.isDirectory())
        return [fault(`${existing} is not a folder`, 'Set DATA_DIR and BACKUP_DIR to folders.')];
      if (devices.has(found.dev)) continue;
      devices.add(found.dev);
      const { bsize, bavail, blocks } = await readFree(existing);
      const [free, total] = [bsize * bavail, bsize * blocks];
      const text = `${formatBytes(free)} of ${formatBytes(total)} are free for ${what} (${existing})`;
      const fix = 'Free space or enlarge the disk: PostgreSQL stops taking saves when it is full.';
      if (free < MIN_FREE_BYTES) findings.push(fault(text, fix));
      else if (free < LOW_FREE_BYTES && free < total * LOW_FREE_SHARE) findings.push(warning(text, fix));
      else findings.push(ok(text));
    }
    return findings;
  },
});

async function nearestExisting(folder: string): Promise<string> {
  const exists = await stat(folder).then(
    () => true,
    () => false,
  );
  return exists || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}

export const permissionsCheck = ({ dataDir, auth, backup }: Config): Check => ({
  name: 'permissions',
  async run() {
    // Windows has no POSIX permissions.
    if (process.platform === 'win32') return [off('this system has other permissions than POSIX')];
    const secrets = [
      dataDir,
      backup.dir,
      auth.signingKeyFile ?? generatedKeyFile(dataDir),
      clusterPaths(dataDir).passwordFile,
      ...(auth.samlKeyFile === null ? [] : [auth.samlKeyFile]),
    ];
    const findings: Finding[] = [];
    for (const path of secrets) {
      const found = await stat(path).catch(() => null);
      if (found === null || (found.mode & GROUP_OR_OTHER_ACCESS) === 0) continue;
      const mode = (found.mode & 0o777).toString(8);
      const fix = `chmod ${found.isDirectory() ? '700' : '600'} ${path}`;
      findings.push(
        found.isDirectory()
          ? warning(`${path} is open to other users (${mode})`, fix)
          : fault(`other users can read ${path} (${mode})`, fix),
      );
    }
    return findings.length > 0 ? findings : [ok('only the owner can read keys and data')];
  },
});

export const keysCheck = ({ auth }: Config): Check => ({
  name: 'keys',
  async run() {
    const findings: Finding[] = [];
    if (auth.signingKeyFile !== null) {
      findings.push(await checkSigningKeys(auth.signingKeyFile));
    }
    if (auth.samlKeyFile !== null) findings.push(await checkSamlKey(auth.samlKeyFile));
    return findings.length > 0 ? findings : [off('no setting names a key file')];
  },
});

const RESTORE_FILE = 'Restore the file, from a backup if necessary.';

async function checkSigningKeys(file: string): Promise<Finding> {
  try {
    await readKeys(fileKeySource(file, 'AUTH_SIGNING_KEY_FILE'));
    return ok(`the signing keys are in ${file}`);
  } catch (error) {
    return fault(reasonOf(error), RESTORE_FILE);
  }
}

async function checkSamlKey(file: string): Promise<Finding> {
  const fix = 'Make a new pair (docs/operations.md, "SAML") and give the certificate to the identity providers.';
  try {
    const { certificate } = await loadSamlKey(file);
    const leftMs = new Date(new X509Certificate(certificate).validTo).getTime() - Date.now();
    const days = Math.floor(leftMs / (24 * HOUR_MS));
    if (leftMs < 0) return warning(`the certificate of SAML expired ${-days} days ago`, fix);
    return leftMs < CERTIFICATE_WARNING_MS
      ? warning(`the certificate of SAML expires in ${days} days`, fix)
      : ok(`the certificate of SAML is valid for ${days} days`);
  } catch (error) {
    return fault(reasonOf(error), `${RESTORE_FILE} If it is lost: ${fix[0]!.toLowerCase()}${fix.slice(1)}`);
  }
}

export const backupCheck = ({ backup }: Config, now: () => Date): Check => ({
  name: 'backup',
  async run() {
    try {
      await checkRecipients(backup.recipients);
    } catch (error) {
      const fix = 'Correct BACKUP_AGE_RECIPIENT: until then every backup fails.';
      return [fault(`BACKUP_AGE_RECIPIENT cannot be used: ${reasonOf(error)}`, fix)];
    }
    const [newest, ...older] = await listBackups(backup.dir);
    if (!newest) {
      const fix =
        'Run "npm run backup" every night (docs/operations/backup.md), or ignore this if another tool does it.';
      return [warning(`there is no backup in ${backup.dir}`, fix)];
    }
    const ageMs = now().getTime() - newest.createdAt.getTime();
    const age =
      ageMs < 48 * HOUR_MS ? `${Math.round(ageMs / HOUR_MS)} hours` : `${Math.round(ageMs / HOUR_MS / 24)} days`;
    const text = `the newest of ${older.length + 1} backups is ${age} old (${newest.file})`;
    const fix = 'Look for the failure of the nightly backup: run "npm run backup" by hand.';
    const { summary } = newest;
    if (summary === null)
      return [warning(`${text}, without ${summaryFile('')} beside it`, 'Verify it: npm run restore -- FILE --check')];
    if (summary.bytes !== newest.bytes) {
      return [
        fault(
          `${text} has ${newest.bytes} bytes instead of ${summary.bytes}`,
          'It was cut off while it was copied: copy it again.',
        ),
      ];
    }
    if (ageMs > FAULTY_BACKUP_AGE_MS) return [fault(text, fix)];
    if (ageMs > MAX_BACKUP_AGE_MS) return [warning(text, fix)];
    if (!summary.encrypted) return [warning(`${text}, and it is not encrypted`, 'Set BACKUP_AGE_RECIPIENT.')];
    return [ok(text)];
  },
});
