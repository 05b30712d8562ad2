/** Creates the signing keys in the database, once for all its servers (docs/decisions/0034). */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { sql } from 'kysely';
import type { AsService, Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Logger } from '#server/log.ts';
import { fileKeySource, NoKeysError, parseKeys, type KeySource } from './key-file.ts';

/** Older releases generated this file and kept the keys in it, not in the database. */
export const generatedKeyFile = (dataDir: string): string => join(dataDir, 'signing-key.json');
const MOVED_SUFFIX = '.moved';

type Deps = { database: Pick<Database, 'asService'>; dataDir: string; log: Pick<Logger, 'info' | 'warn'> };

/**
 * Takes over the keys of the generated file, or generates a key. No-op if the database has keys. If several servers
 * start at the same moment, the first insert wins.
 *
 * @throws Error if accounts depend on keys that are neither in the database nor in the file, or if the file is unusable
 */
export async function createKeysIfMissing({ database, dataDir, log }: Deps): Promise<void> {
  const service = database.asService('create the signing keys');
  if (await hasKeys(service)) return;
  const file = generatedKeyFile(dataDir);
  const source = fileKeySource(file);
  const taken = await readIfExists(source);
  if (taken === null) {
    await insertIntoNewDatabase(service, `${JSON.stringify(await generateJwk())}\n`);
    if (await hasKeys(service)) return;
    throw new Error(
      'the accounts of this database were made with signing keys that are not here. Set AUTH_SIGNING_KEY_FILE to their ' +
        `file or copy it to ${file}. If the keys are lost, a new key there (npm run admin -- key:create) signs ` +
        'everybody out, and every authenticator app must be set up again',
    );
  }
  // An unusable file must not become the keys of all servers. The file is not read again: another server that starts at
  // the same moment may have renamed it by now.
  await parseKeys(source, taken);
  const rows = await service.run(
    queryBuilder
      .insertInto('auth.signing_keys')
      .values({ key_set: taken })
      .onConflict((conflict) => conflict.doNothing())
      .returning('is_only_row'),
  );
  if (rows.length > 0) log.info({ file }, 'moved the signing keys into the database');
  try {
    await rename(file, `${file}${MOVED_SUFFIX}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOENT: another server has renamed the file.
    if (code !== 'ENOENT') log.warn({ file, code }, 'the database holds the signing keys now: remove this file');
  }
}

export async function forgetStoredKeys(transaction: AsService): Promise<void> {
  await transaction.run(queryBuilder.deleteFrom('auth.signing_keys'));
}

export async function generateJwk(): Promise<object> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'ES256' };
}

/**
 * No-op if the database has sessions or TOTP secrets, which depend on earlier keys. Threat: a server starts without the
 * operator's AUTH_SIGNING_KEY_FILE. A new key would end every session, and no server could unseal the TOTP secrets.
 */
async function insertIntoNewDatabase(service: AsService, text: string): Promise<void> {
  await service.statement(
    `insert into auth.signing_keys (key_set)
     select $1
      where not exists (select from auth.refresh_tokens)
        and not exists (select from auth.mfa_factors where secret is not null)
     on conflict do nothing`,
    [text],
  );
}

async function hasKeys(service: AsService): Promise<boolean> {
  const rows = await service.run(queryBuilder.selectFrom('auth.signing_keys').select(sql<number>`1`.as('one')));
  return rows.length > 0;
}

async function readIfExists(source: KeySource): Promise<string | null> {
  try {
    return await source.readText();
  } catch (error) {
    if (error instanceof NoKeysError) return null;
    throw error;
  }
}
