/** Where the signing keys are kept: the operator's file, or the database for all servers that use it. */
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AsService, Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { parseKeyFile, UnusableKeyError, type KeyFile } from './key-file.ts';

export type KeySource = {
  /** Names the source at the beginning of an error message. */
  readonly name: string;
  /** Returns a text that changes with the keys, without the keys themselves. */
  readStamp(): Promise<string>;
  /** @throws NoKeysError if no keys exist */
  readText(): Promise<string>;
};

export class NoKeysError extends Error {}

/**
 * Requests wait while the keys are read again. Without this limit, a database that does not answer would hold them all.
 */
const DATABASE_TIMEOUT_MS = 1_000;

/** @param setting the setting that names the file, for error messages */
export function fileKeySource(file: string, setting?: string): KeySource {
  const place = setting === undefined ? file : `${file} (${setting})`;
  const rejectUnreadable = (error: NodeJS.ErrnoException): never => {
    if (error.code === 'ENOENT') throw new NoKeysError(`There is no key at ${place}.`, { cause: error });
    throw new Error(`The signing key ${place} cannot be read (${error.code ?? error.message}).`, { cause: error });
  };
  return {
    name: `The signing key ${place}`,
    /** Changes when the file is replaced or written again. */
    async readStamp() {
      const { ino, mtimeMs, size } = await stat(file).catch(rejectUnreadable);
      return `${ino} ${mtimeMs} ${size}`;
    },
    readText: () => readFile(file, 'utf8').catch(rejectUnreadable),
  };
}

/** @param service the database, or the transaction that reads and replaces the keys */
export function databaseKeySource(service: AsService): KeySource {
  const row = queryBuilder.selectFrom('auth.signing_keys');
  return {
    name: 'The signing keys in the database',
    async readStamp() {
      const [found] = await withTimeout(service.run(row.select(sql<string>`md5(key_set)`.as('stamp'))));
      return found?.stamp ?? '';
    },
    async readText() {
      const [found] = await withTimeout(service.run(row.select('key_set')));
      if (!found) throw new NoKeysError('The database has no signing keys.');
      return found.key_set;
    },
  };
}

type Settings = { signingKeyFile: string | null };

export const keySource = ({ signingKeyFile }: Settings, database: Pick<Database, 'asService'>): KeySource =>
  signingKeyFile === null
    ? databaseKeySource(database.asService('read the signing keys'))
    : fileKeySource(signingKeyFile, 'AUTH_SIGNING_KEY_FILE');

/** @throws NoKeysError, or an Error that names the source and never quotes the keys */
export const readKeys = async (source: KeySource): Promise<KeyFile> => parseKeys(source, await source.readText());

/** @throws Error that names the source and never quotes the keys */
export async function parseKeys({ name }: KeySource, text: string): Promise<KeyFile> {
  try {
    return await parseKeyFile(text);
  } catch (error) {
    if (!(error instanceof UnusableKeyError)) throw error;
    throw new Error(`${name} cannot be used: ${error.message}`, { cause: error });
  }
}

async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(DATABASE_TIMEOUT_MS, undefined, { ref: false, signal: timer.signal }).then(
    () => Promise.reject(new Error('the database does not answer')),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
