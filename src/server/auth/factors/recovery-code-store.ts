/** Recovery codes: a user has one set of ten, each good for one second step (docs/specification/wire.md 31). */
import { createHmac, randomBytes } from 'node:crypto';
import { base32crockford } from '@scure/base';
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

const CODE_COUNT = 10;
/** 80 bits, 16 characters. */
const CODE_BYTES = 10;

export type CodeSet = Selectable<AuthTables['auth.recovery_code_sets']>;
export type CodeSetStatus = CodeSet & { total: number; remaining: number };

export async function findCodeSet(service: AsService, userId: string): Promise<CodeSetStatus | null> {
  const [row] = await service.run(
    queryBuilder
      .selectFrom('auth.recovery_code_sets as codes')
      .selectAll('codes')
      .select((set) => [
        set
          .selectFrom('auth.recovery_codes as code')
          .select((code) => code.fn.countAll<number>().as('total'))
          .whereRef('code.user_id', '=', 'codes.user_id')
          .as('total'),
        set
          .selectFrom('auth.recovery_codes as code')
          .select((code) => code.fn.countAll<number>().as('remaining'))
          .whereRef('code.user_id', '=', 'codes.user_id')
          .where('code.used_at', 'is', null)
          .as('remaining'),
      ])
      .where('codes.user_id', '=', userId),
  );
  return row ? { ...row, total: row.total ?? 0, remaining: row.remaining ?? 0 } : null;
}

export type NewCodes = { userId: string; now: Date; key: Buffer };

/** Requires a transaction. Null if the user has a set already. */
export async function createCodeSet(
  transaction: AsService,
  { friendlyName, ...codes }: NewCodes & { friendlyName: string },
): Promise<{ set: CodeSet; codes: string[] } | null> {
  const [set] = await transaction.run(
    queryBuilder
      .insertInto('auth.recovery_code_sets')
      .values({ user_id: codes.userId, friendly_name: friendlyName, created_at: codes.now })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .returningAll(),
  );
  return set ? { set, codes: await insertCodes(transaction, codes) } : null;
}

/** Requires a transaction. The old codes stop working. Null if the user has no set. */
export async function replaceCodes(
  transaction: AsService,
  codes: NewCodes,
): Promise<{ set: CodeSet; codes: string[] } | null> {
  const [set] = await transaction.run(
    queryBuilder
      .updateTable('auth.recovery_code_sets')
      .set({ created_at: codes.now })
      .where('user_id', '=', codes.userId)
      .returningAll(),
  );
  if (!set) return null;
  await transaction.run(
    queryBuilder.deleteFrom('auth.recovery_codes').where('user_id', '=', codes.userId).returning('user_id'),
  );
  return { set, codes: await insertCodes(transaction, codes) };
}

async function insertCodes(transaction: AsService, { userId, key }: NewCodes): Promise<string[]> {
  const codes = Array.from({ length: CODE_COUNT }, () => base32crockford.encode(randomBytes(CODE_BYTES)).toLowerCase());
  const rows = codes.map((code) => ({ user_id: userId, code_hash: hashCode(key, userId, code) }));
  await transaction.run(queryBuilder.insertInto('auth.recovery_codes').values(rows).returning('user_id'));
  return codes;
}

type UsedCode = NewCodes & { code: string };

/** Marks the code as used. True once for each code of the user. */
export async function useCode(service: AsService, { userId, code, key, now }: UsedCode): Promise<boolean> {
  const rows = await service.run(
    queryBuilder
      .updateTable('auth.recovery_codes')
      .set({ used_at: now })
      .where('user_id', '=', userId)
      .where('code_hash', '=', hashCode(key, userId, code))
      .where('used_at', 'is', null)
      .returning('user_id'),
  );
  return rows.length > 0;
}

/** Null if the user has no set. */
export async function deleteCodeSet(service: AsService, userId: string): Promise<CodeSet | null> {
  const [set] = await service.run(
    queryBuilder.deleteFrom('auth.recovery_code_sets').where('user_id', '=', userId).returningAll(),
  );
  return set ?? null;
}

/** Ignores case, spaces and hyphens, and reads the letters that people confuse with digits as those digits. */
export const normalizeCode = (code: string): string =>
  code.replaceAll(/[\s-]/g, '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

/** Threat: a reader of `auth.recovery_codes` hashes all codes to find a match. An HMAC needs the server's key. */
const hashCode = (key: Buffer, userId: string, code: string): Buffer =>
  createHmac('sha256', key).update(`${userId}\0${code}`).digest();
