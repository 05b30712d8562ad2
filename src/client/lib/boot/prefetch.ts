/**
 * Hands the responses that the boot script prefetched to the app's first request with the same URL and token. The app
 * checks a prefetched response like any other.
 */
type Prefetched = { authorization: string; response: Promise<Response> };

declare global {
  var hustleForgePrefetched: Map<string, Prefetched> | undefined;
}

/**
 * Discards older responses, because another device may have changed the day since. Also the time-out of the requests.
 */
const MAX_AGE_MS = 10_000;

/**
 * The server forbids to cache its responses. Threat: a captive portal (a hotel's Wi-Fi) answers with a cacheable page
 * of its own, and the browser would return it for hours after the user has left.
 */
const NO_CACHE = 'no-store';

/**
 * Called by the boot script, with the token of the session stored in this browser. Returns the responses.
 */
export function prefetch(urls: readonly string[], token: string, publishableKey: string): Promise<Response>[] {
  const authorization = `Bearer ${token}`;
  const headers = { accept: 'application/json', apikey: publishableKey, authorization };
  const prefetched = (globalThis.hustleForgePrefetched ??= new Map());
  const responses = urls.map((url) => {
    const response = fetch(url, { headers, signal: AbortSignal.timeout(MAX_AGE_MS), cache: NO_CACHE });
    // Attach a handler now, or a failure becomes an unhandled rejection until a caller takes the response.
    response.catch(() => {});
    prefetched.set(url, { authorization, response });
    return response;
  });
  setTimeout(clearPrefetched, MAX_AGE_MS);
  return responses;
}

export function clearPrefetched(): void {
  globalThis.hustleForgePrefetched = undefined;
}

/** `fetch` that uses a prefetched response where there is one. Each response is used once. */
export const fetchPrefetched: typeof fetch = (input, init) => {
  const prefetched = globalThis.hustleForgePrefetched;
  const isRead = (init?.method ?? 'GET') === 'GET';
  const url = input instanceof Request ? input.url : input.toString();
  const match = isRead ? prefetched?.get(url) : undefined;
  // A write makes everything that was read before it stale.
  if (!isRead) clearPrefetched();
  if (!match || match.authorization !== new Headers(init?.headers).get('authorization'))
    return fetch(input, { ...init, cache: NO_CACHE });
  prefetched!.delete(url);
  return match.response;
};
