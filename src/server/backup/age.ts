/** Encryption with age (https://age-encryption.org). The library loads at its first use. */
import { readFile } from 'node:fs/promises';
import { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { BackupError, UsageError } from './archive-format.ts';

export const AGE_MAGIC = 'age-encryption.org/v1\n';

/** @throws UsageError for a recipient that is no public age key. */
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
