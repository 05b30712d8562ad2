/** Read-only links to a wins document or a review (docs/specification/wins.md 2). */

/** The lifetimes of a link that a user can choose. */
export const LINK_DAYS = [7, 30, 90] as const;
export type LinkDays = (typeof LINK_DAYS)[number];

/** Maximum of unexpired links of one user. */
export const MAX_LINKS = 20;

/** The page that a link opens. The token is 32 random bytes in base64url. */
export const SHARED_PATH = '/s/';
export const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** The body of `create-link`. `replaces`: the user's link that the server deletes in the same transaction. */
export type LinkRequest = { documentId?: string; reviewId?: string; days: LinkDays; replaces?: string };

/** `url` is in this answer only: the server stores a hash of its token. */
export type LinkAnswer = { success: true; id: string; url: string; expiresAt: string };

export const LINK_MESSAGES = {
  premium: 'Links are part of the Closer plan.',
  invalid: 'Choose a document or a review, and 7, 30 or 90 days.',
  notFound: 'This document or review is no longer there.',
  tooMany: `You have ${MAX_LINKS} links that still work. End one in Settings first.`,
} as const;
