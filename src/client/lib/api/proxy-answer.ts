/**
 * Recognises answers of a proxy in front of the server that asks to sign in or refuses the user. Its page is no answer of
 * the API: it must not end the session, and only a page that loads anew shows what the proxy wants.
 */

/** Statuses at which a proxy shows its sign-in. Its page at another status says that the server is gone. */
const SIGN_IN_STATUSES: ReadonlySet<number> = new Set([401, 403, 511]);

export function isProxyAnswer({ type, ok, status, headers }: Response): boolean {
  // A redirect that was not followed.
  if (type === 'opaqueredirect') return true;
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  if (isPage) return ok || SIGN_IN_STATUSES.has(status);
  return status === 401 && /^(basic|digest|negotiate|ntlm)\b/i.test(headers.get('www-authenticate') ?? '');
}

const listeners = new Set<() => void>();

/** Calls `listener` for every answer of a proxy. Returns a function that ends that. */
export function subscribeToProxyAnswers(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Tells the listeners of an answer of a proxy, and returns whether it is one. */
export function noteProxyAnswer(response: Response): boolean {
  const isProxy = isProxyAnswer(response);
  if (isProxy) for (const listener of listeners) listener();
  return isProxy;
}
