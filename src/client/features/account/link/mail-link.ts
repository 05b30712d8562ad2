/** What a link of a mail brings to the browser. */

const TYPES = ['signup', 'email_change', 'recovery', 'magiclink', 'invite', 'email'] as const;
type LinkType = (typeof TYPES)[number];

export type MailLink =
  /** Is spent by a click only, so that scanners that open mails cannot use it up (docs/specification/accounts.md 8). */
  | { kind: 'hash'; type: LinkType; tokenHash: string }
  /** A session, as hosted account services send it. */
  | { kind: 'tokens'; type: LinkType; access_token: string; refresh_token: string }
  /** The first of the two links that change an address. */
  | { kind: 'halfDone' }
  | { kind: 'error'; code: string };

/** `given` is query text. Words in it are never shown: anybody can write a link. */
export function readMailLink(given: string): MailLink {
  const values = new URLSearchParams(given);
  const type = TYPES.find((known) => known === values.get('type')) ?? 'magiclink';
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  const tokenHash = values.get('token_hash');
  const error = values.get('error_code') ?? values.get('error');
  if (error !== null) return { kind: 'error', code: error };
  if (access_token && refresh_token) return { kind: 'tokens', type, access_token, refresh_token };
  if (tokenHash) return { kind: 'hash', type, tokenHash };
  return values.has('message') ? { kind: 'halfDone' } : { kind: 'error', code: '' };
}
