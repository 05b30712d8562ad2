/**
 * What a mail carries: a link's token and six digits, either of which proves once that its reader owns the address.
 *
 * The link's token cannot be guessed; the digits could. So they die after five wrong guesses, and after fifteen within
 * a day whatever number of mails is asked for, while the link lives on: a stranger who guesses neither gets in nor
 * locks the owner out.
 */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { AuthTables, OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { hashToken } from './refresh-tokens.ts';

const TOKEN_LIFETIME_SECONDS = 3_600;
const MAX_WRONG_CODES = 5;
const MAX_WRONG_CODES_PER_DAY = 15;
const DAY_MS = 24 * 3_600_000;

export type OneTimeRow = Selectable<AuthTables['auth.one_time_tokens']>;
export type IssuedToken = { linkToken: string; code: string };

type Issue = { userId: string; purpose: OneTimePurpose; address: string; now: Date; key: Buffer };

/**
 * Replaces the token that the user had for this purpose. Its digits die, so that new mails do not buy new guesses.
 *
 * Threat: a stranger asks for a recovery mail whenever the owner does, and the link that the owner is about to open is
 * dead. So the link of a sign-up or a recovery lives on until it expires; every one of them went to the owner's mailbox.
 */
export async function issueOneTimeToken(service: AsService, issue: Issue): Promise<IssuedToken> {
  const linkToken = randomBytes(32).toString('base64url');
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const fresh = {
    address: issue.address,
    link_hash: issue.purpose === 'reauthentication' ? null : hashToken(linkToken),
    code_hash: hashCode(issue, code),
    wrong_codes: 0,
    confirmed_at: null,
    created_at: issue.now,
    expires_at: new Date(issue.now.getTime() + TOKEN_LIFETIME_SECONDS * 1000),
  };
  const yesterday = new Date(issue.now.getTime() - DAY_MS);
  if (issue.purpose === 'signup' || issue.purpose === 'recovery') await saveEarlierLink(service, issue);
  await service.run(
    queryBuilder
      .insertInto('auth.one_time_tokens')
      .values({ user_id: issue.userId, purpose: issue.purpose, ...fresh })
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'purpose']).doUpdateSet((row) => ({
          ...fresh,
          earlier_wrong_codes: row
            .case()
            .when('auth.one_time_tokens.created_at', '>', yesterday)
            .then(sql<number>`one_time_tokens.earlier_wrong_codes + one_time_tokens.wrong_codes`)
            .else(0)
            .end(),
        })),
      )
      .returning('user_id'),
  );
  return { linkToken, code };
}

/** As many as mails can leave within the life of one, at one a minute. Only without that limit are any cut. */
const MAX_EARLIER_LINKS = 60;

async function saveEarlierLink(service: AsService, { userId, purpose, address, now }: Issue): Promise<void> {
  const ofUser = queryBuilder
    .selectFrom('auth.earlier_links')
    .select('link_hash')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose);
  await service.run(
    queryBuilder
      .with('pruned', (query) =>
        query
          .deleteFrom('auth.earlier_links')
          .where('user_id', '=', userId)
          .where('purpose', '=', purpose)
          .where((row) =>
            row.or([
              row('expires_at', '<=', now),
              row('link_hash', 'in', ofUser.orderBy('expires_at', 'desc').offset(MAX_EARLIER_LINKS - 1)),
            ]),
          ),
      )
      .insertInto('auth.earlier_links')
      .columns(['link_hash', 'user_id', 'purpose', 'address', 'expires_at'])
      .expression(
        queryBuilder
          .selectFrom('auth.one_time_tokens')
          .select(['link_hash', 'user_id', 'purpose', 'address', 'expires_at'])
          .where('user_id', '=', userId)
          .where('purpose', '=', purpose)
          .where('address', '=', address)
          .where('link_hash', 'is not', null)
          .where('expires_at', '>', now),
      )
      // Of two mails at the same moment both find the same link to keep.
      .onConflict((conflict) => conflict.doNothing())
      .returning('link_hash'),
  );
}

type LinkLookup = { linkToken: string; purposes: readonly OneTimePurpose[]; now: Date };

/** The live token that the link belongs to; for an earlier link, the one that stands in its place. */
export async function findByLink(service: AsService, presented: LinkLookup): Promise<OneTimeRow | null> {
  const linkHash = hashToken(presented.linkToken);
  const live = queryBuilder
    .selectFrom('auth.one_time_tokens as token')
    .selectAll('token')
    .where('token.purpose', 'in', presented.purposes)
    .where('token.confirmed_at', 'is', null)
    .where('token.expires_at', '>', presented.now);
  const [newest] = await service.run(live.where('token.link_hash', '=', linkHash));
  if (newest) return newest;
  const [replacement] = await service.run(
    live
      .innerJoin('auth.earlier_links as earlier', (join) =>
        join
          .onRef('earlier.user_id', '=', 'token.user_id')
          .onRef('earlier.purpose', '=', 'token.purpose')
          .onRef('earlier.address', '=', 'token.address'),
      )
      .where('earlier.link_hash', '=', linkHash)
      .where('earlier.expires_at', '>', presented.now),
  );
  return replacement ?? null;
}

type CodeLookup = {
  address: string;
  code: string;
  purposes: readonly OneTimePurpose[];
  now: Date;
  key: Buffer;
  /** Set where the user is known already. */
  userId?: string;
};

/**
 * Every guess is counted, and committed, before it is compared: however many arrive at once, only five are looked at.
 * So this must run outside the transaction that uses the answer.
 */
export async function findByCode(service: AsService, presented: CodeLookup): Promise<OneTimeRow | null> {
  let counted = queryBuilder
    .updateTable('auth.one_time_tokens')
    .set((row) => ({ wrong_codes: row('wrong_codes', '+', 1) }))
    .where('address', '=', presented.address)
    .where('purpose', 'in', presented.purposes)
    .where('confirmed_at', 'is', null)
    .where('expires_at', '>', presented.now)
    .where('wrong_codes', '<', MAX_WRONG_CODES)
    .where((row) => row(row('wrong_codes', '+', row.ref('earlier_wrong_codes')), '<', MAX_WRONG_CODES_PER_DAY))
    .returningAll();
  if (presented.userId !== undefined) counted = counted.where('user_id', '=', presented.userId);
  const rows = await service.run(counted);
  const isRight = (row: OneTimeRow): boolean => {
    const { user_id: userId, purpose, address } = row;
    return timingSafeEqual(row.code_hash, hashCode({ userId, purpose, address, key: presented.key }, presented.code));
  };
  return rows.find(isRight) ?? null;
}

/** True for the one caller who uses the token up; of two at once, the other gets false. */
export async function consumeToken(transaction: AsService, token: OneTimeRow): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder
      .deleteFrom('auth.one_time_tokens')
      .where('user_id', '=', token.user_id)
      .where('purpose', '=', token.purpose)
      .where('code_hash', '=', token.code_hash)
      .returning('user_id'),
  );
  return rows.length > 0;
}

/** Ends every link and code that is on its way to the user, and with them an address change that waited for its own. */
export async function deleteOneTimeTokens(service: AsService, userId: string): Promise<void> {
  await service.run(
    queryBuilder
      .with('wiped', (query) => query.deleteFrom('auth.one_time_tokens').where('user_id', '=', userId))
      .updateTable('auth.users')
      .set({ new_email: null })
      .where('id', '=', userId)
      .returning('id'),
  );
}

type CodeScope = Pick<Issue, 'userId' | 'purpose' | 'address' | 'key'>;

const hashCode = (owner: CodeScope, code: string): Buffer =>
  createHmac('sha256', owner.key).update([owner.userId, owner.purpose, owner.address, code].join('\0')).digest();
