/**
 * Sends requests only with the token of a given user. Threat: another tab has signed in a different user since, whose
 * token would store the text of this page in that user's account.
 */
import { readClaims } from '../session/stored-session.ts';

/**
 * Answers a request without this user's token with 401 instead of sending it; offline, rejects like `fetch`.
 * `withSession` treats the 401 like one of the server, and renews or ends the session.
 */
export function fetchAsUser(userId: string, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const token = new Headers(init?.headers).get('authorization') ?? '';
    if (readClaims(token)?.sub === userId) return send(input, init);
    // Offline, an expired token cannot be renewed: report a network error instead of asking for the password.
    if (!navigator.onLine) throw new TypeError('offline');
    return new Response('{}', { status: 401 });
  };
}
