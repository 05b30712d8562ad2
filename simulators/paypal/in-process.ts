/** Adapts `fetch` arguments and abort signals to the in-process API. */
import type { ApiRequest } from '../api-request.ts';

/** Rejects when the signal aborts. The work continues, as on a real server. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

export async function toRequest(input: string | URL | Request, init: RequestInit = {}): Promise<ApiRequest> {
  const asked = input instanceof Request ? input : null;
  const address = asked?.url ?? (input as string | URL).toString();
  const [path = '/', query = ''] = address.replace(/^https?:\/\/[^/]+/, '').split('?');
  const headers: Record<string, string> = {};
  const given = init.headers ?? asked?.headers ?? {};
  const pairs = given instanceof Headers ? given : Array.isArray(given) ? given : Object.entries(given);
  for (const [name, value] of pairs as Iterable<[string, string]>) headers[name.toLowerCase()] = value;
  const { body } = init;
  if (body instanceof URLSearchParams) headers['content-type'] ??= 'application/x-www-form-urlencoded';
  const isText = typeof body === 'string' || body instanceof URLSearchParams;
  const text = isText ? body.toString() : await (asked ?? new Response(body)).text();
  return { method: (init.method ?? asked?.method ?? 'GET').toUpperCase(), path, query, headers, body: text };
}
