/** Requests that speak for one user, or never leave: another tab may have signed somebody else in since. */

/** The user a request speaks for, read from its token; null for a guest's. */
function userOf(headers: Headers): string | null {
  const payload = headers.get('authorization')?.split('.')[1];
  if (payload === undefined) return null;
  try {
    const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { sub?: unknown };
    return typeof claims.sub === 'string' ? claims.sub : null;
  } catch {
    return null;
  }
}

/**
 * A request that does not carry this user's token is answered "signed out" here already, and the connection, which hears
 * every answer, renews the session or ends it.
 */
export function fetchAsUser(userId: string, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    if (userOf(new Headers(init?.headers)) === userId) return send(input, init);
    // Without a network an old token cannot be renewed: that is no reason to ask anybody for a password.
    if (!navigator.onLine) throw new TypeError('offline');
    return new Response('{}', { status: 401 });
  };
}
