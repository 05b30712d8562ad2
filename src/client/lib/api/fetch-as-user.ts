/**
 * Sends requests only with the token of a given user. Threat: another tab may have signed in a different user since.
 */

/** The user id in the request's token; null without a token. */
function userIdOf(headers: Headers): string | null {
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
 * Answers a request without this user's token with 401 instead of sending it; offline, rejects like `fetch`.
 * `withSession` treats the 401 like one of the server, and renews or ends the session.
 */
export function fetchAsUser(userId: string, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    if (userIdOf(new Headers(init?.headers)) === userId) return send(input, init);
    // Offline, an expired token cannot be renewed: report a network error instead of asking for the password.
    if (!navigator.onLine) throw new TypeError('offline');
    return new Response('{}', { status: 401 });
  };
}
