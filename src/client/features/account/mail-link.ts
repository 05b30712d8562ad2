/** What the links in our mails carry, and in what forms they reach the browser. */
export type MailLink = { tokenHash: string; type: 'signup' | 'email_change' | 'recovery' | 'magiclink' | 'invite' };

const TYPES: readonly MailLink['type'][] = ['signup', 'email_change', 'recovery', 'magiclink', 'invite'];

/** A link that is worth nothing until somebody clicks: scanners that open mails cannot use it up (wire-contract 15.8). */
export function linkInAddress(search: string): MailLink | null {
  const query = new URLSearchParams(search);
  const tokenHash = query.get('token_hash');
  const type = TYPES.find((known) => known === query.get('type'));
  return tokenHash && type ? { tokenHash, type } : null;
}

/** Tokens that came straight in the address, in the query or, as the account service sends them, in the fragment. */
export function tokensInAddress(search: string, hash: string): { access_token: string; refresh_token: string } | null {
  for (const text of [search, hash.replace(/^#/, '')]) {
    const values = new URLSearchParams(text);
    const access_token = values.get('access_token');
    const refresh_token = values.get('refresh_token');
    if (access_token && refresh_token && values.get('type') === 'recovery') return { access_token, refresh_token };
  }
  return null;
}

/** True unless the token can be seen to belong to this user. What it says is only compared, never believed. */
export function isForAnother(accessToken: string, userId: string): boolean {
  try {
    const payload = accessToken.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
    return (JSON.parse(atob(payload)) as { sub?: unknown }).sub !== userId;
  } catch {
    return true;
  }
}
