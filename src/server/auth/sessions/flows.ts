/**
 * Sign-in flows that the browser continues elsewhere: at a provider, or from a link in a mail to a PKCE client
 * (docs/specification/api.md 24). A PKCE client gets an auth code at the end, which it exchanges with its verifier.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables } from '#server/database/tables.ts';
import { invalidRequest } from '../http/errors.ts';
import { hashToken } from './refresh-tokens.ts';
import type { SignInMethod } from './sessions.ts';

/** The most time from the flow's start to the provider's answer, and from the auth code's issue to its exchange. */
const FLOW_LIFETIME_MS = 300_000;
/** A mailed link is valid for an hour, and its flow must exist until the user opens the link. */
const MAIL_FLOW_LIFETIME_MS = 3_600_000 + FLOW_LIFETIME_MS;

export type FlowRow = Selectable<Tables['auth.flows']>;
export type Challenge = { value: string; method: 's256' | 'plain' };

type NewFlow = {
  /** Random unless set. The caller of a provider flow needs the id in advance, to seal `providerSecrets`. */
  id?: string;
  method: SignInMethod;
  provider?: string;
  challenge: Challenge | null;
  redirectTo: string;
  linkingUserId?: string;
  browserHash?: Buffer;
  providerSecrets?: Buffer;
  now: Date;
  /** True for a flow that continues in a mail: it must live at least as long as the mail's link. */
  isMail?: boolean;
};

export async function createFlow(service: AsService, flow: NewFlow): Promise<FlowRow> {
  const lifetimeMs = flow.isMail ? MAIL_FLOW_LIFETIME_MS : FLOW_LIFETIME_MS;
  const [row] = await service.run(
    queryBuilder
      .insertInto('auth.flows')
      .values({
        ...(flow.id !== undefined && { id: flow.id }),
        method: flow.method,
        provider: flow.provider ?? null,
        code_challenge: flow.challenge?.value ?? null,
        code_challenge_method: flow.challenge?.method ?? null,
        redirect_to: flow.redirectTo,
        linking_user_id: flow.linkingUserId ?? null,
        browser_hash: flow.browserHash ?? null,
        provider_secrets: flow.providerSecrets ?? null,
        created_at: flow.now,
        expires_at: new Date(flow.now.getTime() + lifetimeMs),
      })
      .returningAll(),
  );
  return row!;
}

export async function findFlow(service: AsService, id: string): Promise<FlowRow | null> {
  const [flow] = await service.run(queryBuilder.selectFrom('auth.flows').selectAll().where('id', '=', id));
  return flow ?? null;
}

/** Marks the flow as returned. Null for all answers of the flow but the first, and for an expired flow. */
export async function claimProviderFlow(service: AsService, id: string, now: Date): Promise<FlowRow | null> {
  const [flow] = await service.run(
    queryBuilder
      .updateTable('auth.flows')
      .set({ returned_at: now })
      .where('id', '=', id)
      .where('returned_at', 'is', null)
      .where('expires_at', '>', now)
      .returningAll(),
  );
  return flow ?? null;
}

/** Replaces the sealed secrets of the flow's start with the sealed tokens of the provider; null if it gave none. */
export async function setProviderSecrets(service: AsService, id: string, sealed: Buffer | null): Promise<void> {
  await service.run(queryBuilder.updateTable('auth.flows').set({ provider_secrets: sealed }).where('id', '=', id));
}

export async function deleteFlow(service: AsService, id: string): Promise<void> {
  await service.run(queryBuilder.deleteFrom('auth.flows').where('id', '=', id));
}

/**
 * Returns a code that works once, within five minutes: at a PKCE client, or where a SAML flow without PKCE continues.
 */
export async function issueAuthCode(service: AsService, flow: FlowRow, userId: string, now: Date): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  await service.run(
    queryBuilder
      .updateTable('auth.flows')
      .set({
        user_id: userId,
        auth_code_hash: hashToken(code),
        auth_code_issued_at: now,
        expires_at: new Date(now.getTime() + FLOW_LIFETIME_MS),
      })
      .where('id', '=', flow.id),
  );
  return code;
}

type CodeExchange =
  | { outcome: 'redeemed'; flow: FlowRow & { user_id: string } }
  | { outcome: 'unknown' }
  | { outcome: 'expired' }
  /** The flow stays valid: the client may have sent another flow's verifier. */
  | { outcome: 'wrong_verifier' };

/** Requires a transaction. Locks the flow, so that a concurrent caller waits until this one has deleted the flow. */
export async function lockFlowOfCode(transaction: AsService, code: string): Promise<FlowRow | null> {
  const [flow] = await transaction.run(
    queryBuilder.selectFrom('auth.flows').selectAll().where('auth_code_hash', '=', hashToken(code)).forUpdate(),
  );
  return flow ?? null;
}

/** Locks the user's row before the flow, in the order of a change that ends all flows. Otherwise the two could deadlock. */
async function lockUserOfCode(transaction: AsService, code: string): Promise<void> {
  const owner = queryBuilder.selectFrom('auth.flows').select('user_id').where('auth_code_hash', '=', hashToken(code));
  await transaction.run(queryBuilder.selectFrom('auth.users').select('id').where('id', 'in', owner).forUpdate());
}

/** Requires a transaction. Deletes the flow if the code and the verifier are right, so a code is redeemed once. */
export async function redeemAuthCode(
  transaction: AsService,
  { code, verifier, now }: { code: string; verifier: string; now: Date },
): Promise<CodeExchange> {
  await lockUserOfCode(transaction, code);
  const flow = await lockFlowOfCode(transaction, code);
  if (!flow || flow.user_id === null) return { outcome: 'unknown' };
  if (flow.expires_at <= now) return { outcome: 'expired' };
  if (!matchesChallenge(flow, verifier)) return { outcome: 'wrong_verifier' };
  await transaction.run(queryBuilder.deleteFrom('auth.flows').where('id', '=', flow.id));
  return { outcome: 'redeemed', flow: { ...flow, user_id: flow.user_id } };
}

/** Compares the verifier with the stored challenge (RFC 7636 4.6). */
function matchesChallenge(flow: FlowRow, verifier: string): boolean {
  if (flow.code_challenge === null) return false;
  const presented =
    flow.code_challenge_method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  const [expected, actual] = [hashToken(flow.code_challenge), hashToken(presented)];
  return timingSafeEqual(expected, actual);
}

const MIN_CHALLENGE_LENGTH = 43;
const MAX_CHALLENGE_LENGTH = 128;

/**
 * Reads the PKCE challenge of a request (RFC 7636 4.3; docs/specification/api.md 24).
 *
 * Null for the implicit flow, where both are empty. Throws `validation_failed`.
 */
export function parseChallenge(value: string, method: string): Challenge | null {
  if (value === '' && method === '') return null;
  if (value === '' || method === '')
    throw invalidRequest('PKCE flow requires code_challenge_method and code_challenge');
  if (value.length < MIN_CHALLENGE_LENGTH || value.length > MAX_CHALLENGE_LENGTH)
    throw invalidRequest('code challenge has to be between 43 and 128 characters');
  if (!/^[A-Za-z0-9._~-]+$/.test(value))
    throw invalidRequest(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    );
  const known = (['s256', 'plain'] as const).find((name) => name === method.toLowerCase());
  if (!known) throw invalidRequest('Invalid code challenge method');
  return { value, method: known };
}
