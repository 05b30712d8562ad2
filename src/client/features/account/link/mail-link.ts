/** Parses the query of a mailed link. */

const TYPES = ['signup', 'email_change', 'recovery', 'magiclink', 'invite', 'email'] as const;
type LinkType = (typeof TYPES)[number];

export type MailLink =
  /** Consumed only after a click, because mail scanners open every link (docs/specification/accounts.md 8). */
  | { kind: 'hash'; type: LinkType; tokenHash: string }
  /** A session, in the format of hosted Supabase. */
  | { kind: 'tokens'; type: LinkType; access_token: string; refresh_token: string }
  /** The first of the two links of an address change was accepted. */
  | { kind: 'firstConfirmed' }
  | { kind: 'error'; code: string };

/** Threat: anyone can write a link, so text from the query is never shown. */
export function readMailLink(query: string): MailLink {
  const values = new URLSearchParams(query);
  const type = TYPES.find((known) => known === values.get('type')) ?? 'magiclink';
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  const tokenHash = values.get('token_hash');
  const error = values.get('error_code') ?? values.get('error');
  if (error !== null) return { kind: 'error', code: error };
  if (access_token && refresh_token) return { kind: 'tokens', type, access_token, refresh_token };
  if (tokenHash) return { kind: 'hash', type, tokenHash };
  return values.has('message') ? { kind: 'firstConfirmed' } : { kind: 'error', code: '' };
}
