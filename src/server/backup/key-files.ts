/**
 * The key files beside the database. Without the signing keys nobody stays signed in, and no second factor can be read.
 * Signing keys in the database (docs/decisions/0034) are a table like any other.
 *
 * A restore stages the files before its commit, and puts them in place after it. A kill in between leaves the staged
 * files, and `finish-restore.ts` finds out whether the rows are those of the backup.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { generatedKeyFile } from '../auth/keys/stored-keys.ts';
import type { Config } from '../config/config.ts';
import { BackupError, UsageError } from './archive-format.ts';
import { syncFolder } from './folder.ts';
import { ReadableStream as NodeReadableStream } from 'node:stream/web';

const SIGNING_KEY = 'signing-key.json';
const SAML_KEY = 'saml-key.pem';

export type KeyConfig = Pick<Config, 'dataDir'> & { auth: Pick<Config['auth'], 'signingKeyFile' | 'samlKeyFile'> };

/**
 * @throws BackupError when a key file cannot be read or one that a setting names is missing, or after a killed restore.
 */
export async function readKeyFiles(config: KeyConfig): Promise<Map<string, Buffer>> {
  const { dataDir, auth } = config;
  const { signingKeyFile, samlKeyFile } = auth;
  if ((await listStagedFiles(config)).length > 0) {
    throw new BackupError('a restore was interrupted, so keys and rows may differ: start the server, which fixes it');
  }
  const files = new Map<string, Buffer>();
  const signingKey = await readIfExists(signingKeyFile ?? generatedKeyFile(dataDir));
  if (signingKey !== null) files.set(SIGNING_KEY, signingKey);
  else if (signingKeyFile !== null) throw missing('AUTH_SIGNING_KEY_FILE', signingKeyFile);
  const samlKey = samlKeyFile === null ? null : await readIfExists(samlKeyFile);
  if (samlKey !== null) files.set(SAML_KEY, samlKey);
  else if (samlKeyFile !== null) throw missing('AUTH_SAML_KEY_FILE', samlKeyFile);
  return files;
}

const missing = (setting: string, file: string): BackupError =>
  new BackupError(`${setting} names ${file}, which does not exist: without it the backup would be of no use`);

async function readIfExists(file: string): Promise<Buffer | null> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new BackupError(`the key ${file} cannot be read (${error.code ?? 'unknown error'})`);
  });
}

export type PlacedFile = {
  file: string;
  /** The setting that must name the file; null where the server finds it by itself. */
  setting: string | null;
};

export type KeyPlacement = {
  /** The transaction that restores the rows records this id, which shows later whether it was committed. */
  readonly restoreId: string;
  /** Writes the files beside their places. */
  stage(): Promise<void>;
  /** Puts the staged files in place. @throws BackupError */
  place(): Promise<PlacedFile[]>;
  /** Removes the staged files. */
  discard(): Promise<void>;
};

/** A key file of a restore that has not ended, or was interrupted. */
export type StagedFile = { file: string; restoreId: string };

const stagedName = ({ file, restoreId }: StagedFile): string => `${file}.restore-${restoreId}`;

/**
 * Puts a staged file in place. Renames an existing key file instead of deleting it. Callers hold the migrations lock,
 * so only one process does this.
 */
export async function placeStagedFile(staged: StagedFile): Promise<void> {
  const { file, restoreId } = staged;
  await rename(file, `${file}.before-restore-${restoreId}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(stagedName(staged), file);
  await syncFolder(dirname(file));
}

export const removeStagedFile = (staged: StagedFile): Promise<void> => rm(stagedName(staged), { force: true });

export async function listStagedFiles(config: KeyConfig): Promise<StagedFile[]> {
  const all: StagedFile[] = [];
  for (const { file } of Object.values(keyTargets(config))) {
    const names = await readdir(dirname(file)).catch(() => []);
    const prefix = `${basename(file)}.restore-`;
    const stagedNames = names.filter((name) => name.startsWith(prefix));
    all.push(...stagedNames.map((name) => ({ file, restoreId: name.slice(prefix.length) })));
  }
  return all;
}

const keyTargets = ({ dataDir, auth }: KeyConfig) => ({
  [SIGNING_KEY]: { file: auth.signingKeyFile ?? generatedKeyFile(dataDir), isSet: auth.signingKeyFile !== null },
  [SAML_KEY]: { file: auth.samlKeyFile ?? join(dataDir, SAML_KEY), isSet: auth.samlKeyFile !== null },
});

/**
 * Decides where the files of an archive go on this machine. `hasStoredKeys`: the archive has signing keys in the
 * database too, which a server prefers to a file that no setting names.
 *
 * @throws BackupError for an unknown file, and when another key is there already, unless `replace`, which keeps it
 *   under another name
 */
export async function planKeyFiles(
  files: ReadonlyMap<string, Buffer>,
  config: KeyConfig,
  { replace, now, hasStoredKeys }: { replace: boolean; now: Date; hasStoredKeys: boolean },
): Promise<KeyPlacement> {
  const { [SIGNING_KEY]: signingKey, [SAML_KEY]: samlKey } = keyTargets(config);
  const targets: Record<string, PlacedFile> = {
    [SIGNING_KEY]: {
      file: signingKey.file,
      setting: signingKey.isSet || !hasStoredKeys ? null : 'AUTH_SIGNING_KEY_FILE',
    },
    [SAML_KEY]: { file: samlKey.file, setting: samlKey.isSet ? null : 'AUTH_SAML_KEY_FILE' },
  };
  const restoreId = `${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${randomBytes(4).toString('hex')}`;
  const placements: (PlacedFile & StagedFile & { content: Buffer })[] = [];
  for (const [name, content] of files) {
    const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
    if (!target) throw new BackupError(`the backup has a file that this program does not know: ${name}`);
    const current = await readIfExists(target.file);
    if (current?.equals(content)) continue;
    if (current !== null && !replace) {
      throw new BackupError(
        `${target.file} holds another key than the backup: move it away, or use --replace, which keeps it beside the new one`,
      );
    }
    placements.push({ ...target, content, restoreId });
  }
  return {
    restoreId,
    async stage() {
      for (const placement of placements) {
        const folder = dirname(placement.file);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeDurably(stagedName(placement), placement.content);
        await syncFolder(folder);
      }
    },
    async place() {
      for (const placement of placements) {
        await placeStagedFile(placement).catch(({ code }: NodeJS.ErrnoException) => {
          throw new BackupError(
            `the rows are those of the backup, but ${placement.file} could not be replaced (${code ?? 'unknown error'}): ` +
              'fix that and start the server, which puts the key in place',
          );
        });
      }
      return placements.map(({ file, setting }) => ({ file, setting }));
    },
    async discard() {
      for (const placement of placements) await removeStagedFile(placement);
    },
  };
}

async function writeDurably(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, 0o600);
}

/** Begins every binary file that is encrypted with age (https://age-encryption.org). */
export const AGE_MAGIC = 'age-encryption.org/v1\n';

/** @throws UsageError for a recipient that is not a public age key. */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  if (recipients.length > 0) await createEncrypter(recipients);
}

async function createEncrypter(recipients: readonly string[]) {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    // An operator may mix the two keys up, and the private one must not appear in a mail of cron.
    if (recipient.startsWith('AGE-SECRET-KEY-')) {
      throw new UsageError('the recipient is a private key: name its public key, which begins with age1');
    }
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new UsageError(`"${recipient}" is no public age key: one begins with age1, and age-keygen makes it`);
    }
  }
  return encrypter;
}

export async function* encrypt(
  source: AsyncIterable<Buffer>,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  const encrypter = await createEncrypter(recipients);
  yield* iterate(await encrypter.encrypt(toWebStream(source)));
}

/** Casts the stream: the library expects the browser's type, which the type of Node's streams does not match exactly. */
function toWebStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const stream: unknown = NodeReadableStream.from(source);
  return stream as ReadableStream<Uint8Array>;
}

const iterate = (stream: unknown): AsyncIterable<Uint8Array> => stream as AsyncIterable<Uint8Array>;

export type Identities = { file: string; keys: readonly string[] };

/** Reads a file of `age-keygen`. @throws BackupError that names the file and quotes none of it. */
export async function readIdentities(file: string): Promise<Identities> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`the identity file ${file} cannot be read (${error.code ?? 'unknown error'})`);
  });
  if (text.startsWith(AGE_MAGIC) || text.startsWith('-----BEGIN AGE')) {
    throw new BackupError(`the identity file ${file} is itself encrypted: decrypt it first with \`age -d\``);
  }
  const keys = text.split(/\r?\n/).flatMap((line) => (/^\s*(#|$)/.test(line) ? [] : [line.trim()]));
  const { Decrypter } = await import('age-encryption');
  try {
    for (const key of keys) new Decrypter().addIdentity(key);
  } catch {
    keys.length = 0;
  }
  if (keys.length === 0) {
    throw new BackupError(`${file} holds no private age key: one begins with AGE-SECRET-KEY-, and age-keygen makes it`);
  }
  return { file, keys };
}

/** @throws BackupError when no key opens the file. Damage later in the stream is an error of the library. */
export async function decrypt(
  source: AsyncIterable<Buffer>,
  { file, keys }: Identities,
): Promise<AsyncIterable<Uint8Array>> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const key of keys) decrypter.addIdentity(key);
  try {
    return iterate(await decrypter.decrypt(toWebStream(source)));
  } catch (cause) {
    const isOtherKey = cause instanceof Error && cause.message.includes('no identity matched');
    if (!isOtherKey) throw cause;
    throw new BackupError(`no key in ${file} opens it: it was encrypted to another key`, { cause });
  }
}
