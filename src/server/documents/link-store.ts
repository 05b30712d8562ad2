/**
 * The links of `document_links`, and what they show.
 *
 * Threat: a stranger guesses, finds or keeps a link. A token has 256 random bits and is stored as a hash, so it can
 * neither be guessed nor be read from a stolen backup. Each view asks the database again: a link that has ended, whose
 * document is gone, or whose owner is deleted, banned or no longer on the paid plan shows nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Day } from '#domain/day/day.ts';
import type { LinkDays } from '#domain/documents/document-links.ts';
import type { AsUser, AsService } from '../database/database.ts';

const TOKEN_BYTES = 32;

/** A plain hash: unlike a password, 256 random bits cannot be guessed, so it needs no salt and no slow hash. */
const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export type NewLink = { userId: string; documentId: string | null; reviewId: string | null; days: LinkDays };

/**
 * Inserts as the user: policies check the plan, and foreign keys check that the document or review belongs to the user.
 * Returns the only copy of the token.
 */
export async function insertLink(
  user: AsUser,
  { userId, documentId, reviewId, days }: NewLink,
): Promise<{ id: string; token: string; expiresAt: string }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { rows } = await user.statement<{ id: string; expiresAt: Date }>(
    `insert into public.document_links (user_id, document_id, review_id, token_hash, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(hours => $5))
     returning id, expires_at as "expiresAt"`,
    [userId, documentId, reviewId, hashToken(token), days * 24],
  );
  const { id, expiresAt } = rows[0]!;
  return { id, token, expiresAt: expiresAt.toISOString() };
}

export async function deleteLink(user: AsUser | AsService, userId: string, id: string): Promise<void> {
  await user.statement('delete from public.document_links where user_id = $1 and id = $2', [userId, id]);
}

/** Deletes ended links. A request for one is answered like a request for a link that never was. */
export async function deleteEndedLinks(user: AsUser, userId: string): Promise<void> {
  await user.statement('delete from public.document_links where user_id = $1 and expires_at <= now()', [userId]);
}

export type SharedDocument = { kind: 'document'; title: string; from: Day; to: Day; content: string };
export type SharedReview = { kind: 'review'; from: Day; to: Day; text: string };

type Target = { userId: string; documentId: string | null; reviewId: string | null };

const FIND = `
  select user_id as "userId", document_id as "documentId", review_id as "reviewId"
    from public.document_links where token_hash = $1 and expires_at > now()`;

/**
 * The condition of `is_premium()`, which checks the caller, for the owner of the link. An account that waits for its
 * deletion shows nothing.
 */
const OWNER_MAY_SHARE = `
  exists (select from public.profiles
           where id = $1 and subscription_plan = 'premium'
             and (access_valid_until is null or access_valid_until >= public.earliest_today()))
  and exists (select from auth.users
               where id = $1 and deletion_due_at is null and deleted_at is null
                 and (banned_until is null or banned_until <= now()))`;

const READ_DOCUMENT = `
  select title, first_day::text as "from", last_day::text as "to", content
    from public.documents where user_id = $1 and id = $2 and ${OWNER_MAY_SHARE}`;

const READ_REVIEW = `
  select period_from::text as "from", period_to::text as "to", text
    from public.reviews where user_id = $1 and id = $2 and ${OWNER_MAY_SHARE}`;

/** The document or review of a live link; null for any other token, whatever the reason. */
export async function findShared(service: AsService, token: string): Promise<SharedDocument | SharedReview | null> {
  const { rows: targets } = await service.statement<Target>(FIND, [hashToken(token)]);
  const target = targets[0];
  if (!target) return null;
  const { userId, documentId, reviewId } = target;
  if (documentId !== null) {
    const { rows } = await service.statement<Omit<SharedDocument, 'kind'>>(READ_DOCUMENT, [userId, documentId]);
    return rows[0] ? { kind: 'document', ...rows[0] } : null;
  }
  const { rows } = await service.statement<Omit<SharedReview, 'kind'>>(READ_REVIEW, [userId, reviewId]);
  return rows[0] ? { kind: 'review', ...rows[0] } : null;
}
