/**
 * One-time tokens of mails and text messages: a six-digit code and, in most mails, a link token. Either one proves once
 * that the reader owns the address or the number.
 *
 * Threat: the link token cannot be guessed, but the code can. Five wrong guesses invalidate a code. A code that
 * replaces one of the last 24 hours inherits its wrong guesses, and fifteen in all invalidate it too. The link stays
 * valid, so a guessing stranger neither gets in nor locks the owner out.
 */
import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, OneTimePurpose } from '#server/database/tables.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Device } from '../http/device.ts';
import { hmac } from '../keys/sealed.ts';
import { hashToken } from '../sessions/refresh-tokens.ts';

const TOKEN_LIFETIME_SECONDS = 3_600;
const MAX_WRONG_CODES = 5;
const MAX_WRONG_CODES_PER_DAY = 15;
const DAY_MS = 24 * 3_600_000;

export type OneTimeRow = Selectable<Tables['auth.one_time_tokens']>;
/** A token that a link or a code has found. */
export type FoundToken = OneTimeRow & {
  /** The hash of the opened link; null if a code was entered. */
  openedLink: Buffer | null;
};
export type IssuedToken = { linkToken: string; code: string };

type Issue = {
  userId: string;
  purpose: OneTimePurpose;
  address: string;
  now: Date;
  key: Buffer;
  /** An hour unless set. */
  lifetimeSeconds?: number;
  /** The PKCE flow that asked for the mail. Opening the link then gives the client an auth code. */
  flowId?: string | null;
  /** Whether links of earlier mails stay valid. */
  keepsEarlierLinks?: boolean;
};

/** Purposes whose message has a code only. */
const WITHOUT_LINK: ReadonlySet<OneTimePurpose> = new Set(['reauthentication', 'sms', 'phone_change']);
/** Marks the links of PKCE flows (docs/specification/api.md 15). Their redirects carry errors in the query too. */
const PKCE_PREFIX = 'pkce_';
export const isPkceLink = (linkToken: string): boolean => linkToken.startsWith(PKCE_PREFIX);

/**
 * Replaces the user's token for this purpose. The previous code is invalidated. Its wrong guesses still count towards
 * MAX_WRONG_CODES_PER_DAY if it was issued within the last day, so new mails cannot raise the guesses above that limit.
 *
 * Threat: a stranger requests a recovery mail whenever the owner does, to invalidate the link that the owner is about
 * to open. Earlier links of mails that a stranger can request therefore stay valid until they expire; all of them went
 * to the owner. Each keeps its own flow, or a stranger's flow would take over the owner's link.
 */
export async function issueOneTimeToken(service: AsService, issue: Issue): Promise<IssuedToken> {
  const { flowId = null, keepsEarlierLinks = false } = issue;
  const linkToken = (flowId === null ? '' : PKCE_PREFIX) + randomBytes(32).toString('base64url');
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const token = {
    address: issue.address,
    flow_id: flowId,
    link_hash: WITHOUT_LINK.has(issue.purpose) ? null : hashToken(linkToken),
    code_hash: hashCode(issue, code),
    wrong_codes: 0,
    confirmed_at: null,
    created_at: issue.now,
    expires_at: new Date(issue.now.getTime() + (issue.lifetimeSeconds ?? TOKEN_LIFETIME_SECONDS) * 1000),
  };
  const yesterday = new Date(issue.now.getTime() - DAY_MS);
  await (keepsEarlierLinks ? saveEarlierLink(service, issue) : deleteEarlierLinks(service, issue));
  await service.run(
    queryBuilder
      .insertInto('auth.one_time_tokens')
      .values({ user_id: issue.userId, purpose: issue.purpose, ...token })
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'purpose']).doUpdateSet((row) => ({
          ...token,
          earlier_wrong_codes: row
            .case()
            .when('auth.one_time_tokens.created_at', '>', yesterday)
            .then(sql<number>`one_time_tokens.earlier_wrong_codes + one_time_tokens.wrong_codes`)
            .else(0)
            .end(),
        })),
      ),
  );
  return { linkToken, code };
}

/**
 * A user can request one mail of a purpose a minute, and its link is valid for an hour, so at most 60 links of a
 * purpose are valid at once. More occur only with AUTH_RATE_LIMITS=off or by the admin routes; the oldest are then
 * deleted.
 */
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
      .columns(['link_hash', 'user_id', 'purpose', 'address', 'expires_at', 'flow_id'])
      .expression(
        queryBuilder
          .selectFrom('auth.one_time_tokens')
          .select(['link_hash', 'user_id', 'purpose', 'address', 'expires_at', 'flow_id'])
          .where('user_id', '=', userId)
          .where('purpose', '=', purpose)
          .where('address', '=', address)
          .where('link_hash', 'is not', null)
          .where('expires_at', '>', now)
          // The second of two concurrent mails waits here. Without this lock, the foreign key would make both hold a
          // shared lock of the row, and they would deadlock when they update it.
          .forUpdate(),
      ),
  );
}

async function deleteEarlierLinks(service: AsService, { userId, purpose }: Issue): Promise<void> {
  await service.run(
    queryBuilder.deleteFrom('auth.earlier_links').where('user_id', '=', userId).where('purpose', '=', purpose),
  );
}

type LinkLookup = { linkToken: string; purposes: readonly OneTimePurpose[]; now: Date };

/** Returns the link's valid token. For an earlier link: the token that replaced it, with the earlier link's flow. */
export async function findByLink(service: AsService, lookup: LinkLookup): Promise<FoundToken | null> {
  const linkHash = hashToken(lookup.linkToken);
  const live = queryBuilder
    .selectFrom('auth.one_time_tokens as token')
    .selectAll('token')
    .where('token.purpose', 'in', lookup.purposes)
    .where('token.confirmed_at', 'is', null)
    .where('token.expires_at', '>', lookup.now);
  const [newest] = await service.run(live.where('token.link_hash', '=', linkHash));
  if (newest) return { ...newest, openedLink: linkHash };
  const [replacement] = await service.run(
    live
      .innerJoin('auth.earlier_links as earlier', (join) =>
        join
          .onRef('earlier.user_id', '=', 'token.user_id')
          .onRef('earlier.purpose', '=', 'token.purpose')
          .onRef('earlier.address', '=', 'token.address'),
      )
      .select('earlier.flow_id as link_flow_id')
      .where('earlier.link_hash', '=', linkHash)
      .where('earlier.expires_at', '>', lookup.now),
  );
  if (!replacement) return null;
  const { link_flow_id, ...token } = replacement;
  return { ...token, flow_id: link_flow_id, openedLink: linkHash };
}

type CodeLookup = {
  address: string;
  code: string;
  purposes: readonly OneTimePurpose[];
  now: Date;
  key: Buffer;
  /** For the audit row of a wrong guess. */
  device?: Device;
  /** Limits the lookup to this user's tokens; set when the user is signed in. */
  userId?: string;
};

/**
 * Counts and commits every guess before it compares the code, so at most five of any number of concurrent guesses are
 * compared. Call it outside the transaction that consumes the token: a rollback would undo the count.
 */
export async function findByCode(service: AsService, lookup: CodeLookup): Promise<FoundToken | null> {
  let countGuess = queryBuilder
    .updateTable('auth.one_time_tokens')
    .set((row) => ({ wrong_codes: row('wrong_codes', '+', 1) }))
    .where('address', '=', lookup.address)
    .where('purpose', 'in', lookup.purposes)
    .where('confirmed_at', 'is', null)
    .where('expires_at', '>', lookup.now)
    .where('wrong_codes', '<', MAX_WRONG_CODES)
    .where((row) => row(row('wrong_codes', '+', row.ref('earlier_wrong_codes')), '<', MAX_WRONG_CODES_PER_DAY))
    .returningAll();
  if (lookup.userId !== undefined) countGuess = countGuess.where('user_id', '=', lookup.userId);
  const rows = await service.run(countGuess);
  const isMatch = (row: OneTimeRow): boolean => {
    const { user_id: userId, purpose, address } = row;
    return timingSafeEqual(row.code_hash, hashCode({ userId, purpose, address, key: lookup.key }, lookup.code));
  };
  const token = rows.find(isMatch);
  if (token) return { ...token, openedLink: null };
  // The limits on guesses also bound the number of these audit rows.
  for (const { user_id: userId, purpose } of rows) {
    await recordAuditEvent(service, {
      at: lookup.now,
      userId,
      actor: 'guest',
      event: 'sign_in_failed',
      ...(lookup.device && { device: lookup.device }),
      details: { method: 'otp', purpose },
    });
  }
  return null;
}

/**
 * Disables the code of a token whose mail was not sent. It sets `wrong_codes` to the maximum, so `findByCode` compares
 * no more guesses with the code.
 */
export async function endCode(
  service: AsService,
  { userId, purpose, address }: Pick<Issue, 'userId' | 'purpose' | 'address'>,
): Promise<void> {
  await service.run(
    queryBuilder
      .updateTable('auth.one_time_tokens')
      .set({ wrong_codes: MAX_WRONG_CODES })
      .where('user_id', '=', userId)
      .where('purpose', '=', purpose)
      .where('address', '=', address),
  );
}

/**
 * Ends the user's links and codes of these purposes. The rows stay, because they hold the number of wrong guesses,
 * which also counts for the next mail.
 */
export async function endTokens(
  service: AsService,
  { userId, purposes, now }: { userId: string; purposes: readonly OneTimePurpose[]; now: Date },
): Promise<void> {
  await service.run(
    queryBuilder
      .updateTable('auth.one_time_tokens')
      .set({ expires_at: now })
      .where('user_id', '=', userId)
      .where('purpose', 'in', purposes),
  );
}

/**
 * Locks the token and returns it as it is now; null if it was redeemed or replaced. Exception: a mail that was
 * requested since `findByLink` has replaced it and kept its link valid. Then returns the replacement.
 */
export async function lockToken(transaction: AsService, token: FoundToken): Promise<OneTimeRow | null> {
  const [live] = await transaction.run(
    queryBuilder
      .selectFrom('auth.one_time_tokens')
      .selectAll()
      .where('user_id', '=', token.user_id)
      .where('purpose', '=', token.purpose)
      .where('address', '=', token.address)
      .forUpdate(),
  );
  if (!live || live.code_hash.equals(token.code_hash)) return live ?? null;
  if (token.openedLink === null) return null;
  // A statement of its own: its snapshot contains the link that the other transaction saved before it released the
  // lock.
  const [kept] = await transaction.run(
    queryBuilder
      .selectFrom('auth.earlier_links')
      .select('link_hash')
      .where('link_hash', '=', token.openedLink)
      .where('user_id', '=', live.user_id)
      .where('purpose', '=', live.purpose)
      .where('address', '=', live.address),
  );
  return kept ? live : null;
}

/** Deletes the token. Returns true to one of several concurrent callers, and false if `lockToken` finds none. */
export async function consumeToken(transaction: AsService, token: FoundToken): Promise<boolean> {
  const live = await lockToken(transaction, token);
  if (!live) return false;
  const rows = await transaction.run(
    queryBuilder
      .deleteFrom('auth.one_time_tokens')
      .where('user_id', '=', live.user_id)
      .where('purpose', '=', live.purpose)
      .where('code_hash', '=', live.code_hash)
      .returning('user_id'),
  );
  return rows.length > 0;
}

/** Purposes of mails that sign in, and so prove the address (docs/specification/accounts.md 17). */
const PROVING_PURPOSES: readonly OneTimePurpose[] = ['signup', 'invite', 'magiclink', 'recovery'];

/**
 * Invalidates the user's links (earlier links by cascade) and codes, also the auth codes that a PKCE client has not
 * exchanged yet. Cancels a pending change of address or number and every flow that would link an identity.
 *
 * Links and codes that would be the first proof of the address stay valid. Threat: a stranger who signed up with the
 * owner's address sets a new password every few seconds, so that each link dies before the owner opens it.
 */
export async function deleteOneTimeTokens(service: AsService, userId: string): Promise<void> {
  const unprovenAddress = queryBuilder
    .selectFrom('auth.users')
    .select('email')
    .where('id', '=', userId)
    .where('email', 'is not', null)
    .where('email_proven_at', 'is', null);
  await service.run(
    queryBuilder
      .with('wiped', (query) =>
        query
          .deleteFrom('auth.one_time_tokens')
          .where('user_id', '=', userId)
          .where((row) =>
            row.not(row.and([row('purpose', 'in', PROVING_PURPOSES), row('address', 'in', unprovenAddress)])),
          ),
      )
      .with('flows', (query) =>
        query
          .deleteFrom('auth.flows')
          .where((row) => row.or([row('linking_user_id', '=', userId), row('user_id', '=', userId)])),
      )
      .updateTable('auth.users')
      .set({ new_email: null, new_phone: null })
      .where('id', '=', userId),
  );
}

type CodeScope = Pick<Issue, 'userId' | 'purpose' | 'address' | 'key'>;

const hashCode = (owner: CodeScope, code: string): Buffer =>
  hmac(owner.key).update([owner.userId, owner.purpose, owner.address, code].join('\0')).digest();
