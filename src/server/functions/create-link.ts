/**
 * `create-link` {documentId or reviewId, days, replaces?}: makes a read-only link to an own document or review
 * (docs/specification/wins.md 2). The address is in this answer only. Ending a link is a DELETE on /rest/v1.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import pg from 'pg';
import {
  LINK_DAYS,
  LINK_MESSAGES,
  SHARED_PATH,
  type LinkAnswer,
  type LinkDays,
} from '#domain/documents/document-links.ts';
import { AccessTokenError } from '../auth/keys/access-tokens.ts';
import { PERMISSION_DENIED } from '../database/database-error.ts';
import type { AsService, Database, Identity } from '../database/database.ts';
import { deleteEndedLinks, deleteLink, insertLink } from '../documents/link-store.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { FunctionError, readBody } from './function-request.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);
const isLinkDays = (value: unknown): value is LinkDays => LINK_DAYS.some((days) => days === value);

/** The answer for each SQLSTATE with which the database refuses the row. */
const REFUSALS: Readonly<Record<string, readonly [ContentfulStatusCode, string]>> = {
  [PERMISSION_DENIED]: [403, LINK_MESSAGES.premium],
  '23503': [404, LINK_MESSAGES.notFound],
  '54000': [409, LINK_MESSAGES.tooMany],
};

/**
 * Threat: a stranger who is signed in makes a link while the owner claims the account, which ends sessions and links. A
 * process may still accept the ended session for 30 seconds, and the new link would outlive the claim. So check the
 * session once the link is stored: the claim deletes sessions before links, and the lock waits for a deletion in
 * flight.
 */
async function hasLiveSession(service: AsService, { claimsJson }: Identity): Promise<boolean> {
  const { session_id: id = null } = JSON.parse(claimsJson) as { session_id?: string };
  return (
    id === null ||
    (await service.statement('select from auth.sessions where id = $1 for key share', [id])).rowCount === 1
  );
}

export function createLink({ config, database }: { config: { publicUrl: string }; database: Database }) {
  return async function createOwnLink(
    context: Context<AppEnv>,
    { userId, identity }: SignedInCaller,
  ): Promise<Response> {
    const { documentId = null, reviewId = null, days, replaces = null } = await readBody(context);
    const targets = [documentId, reviewId].filter((target) => target !== null);
    if (
      targets.length !== 1 ||
      !targets.every(isUuid) ||
      !isLinkDays(days) ||
      !(replaces === null || isUuid(replaces))
    ) {
      throw new FunctionError(400, LINK_MESSAGES.invalid);
    }
    const target = { documentId: documentId as string | null, reviewId: reviewId as string | null };
    const service = database.asService('create a link');
    try {
      const { token, ...link } = await database.transactAsUser(identity, async (user) => {
        await deleteEndedLinks(user, userId);
        if (replaces !== null) await deleteLink(user, userId, replaces);
        return insertLink(user, { userId, ...target, days });
      });
      if (!(await hasLiveSession(service, identity))) {
        await deleteLink(service, userId, link.id);
        throw new AccessTokenError('session_ended', 'the session has ended');
      }
      const url = `${config.publicUrl}${SHARED_PATH}${token}`;
      return context.json({ success: true, ...link, url } satisfies LinkAnswer);
    } catch (error) {
      const refusal = error instanceof pg.DatabaseError ? REFUSALS[error.code ?? ''] : undefined;
      if (refusal) throw new FunctionError(...refusal);
      throw error;
    }
  };
}
