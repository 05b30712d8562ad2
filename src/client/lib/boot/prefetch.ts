/**
 * What the early script asked for before the app's code had arrived, handed to the first request that is the same one:
 * same address, same token. Everything that checks requests and answers stays where it is, around this.
 */
type EarlyAnswer = { authorization: string; answer: Promise<Response> };

declare global {
  var hustleForgeEarly: Map<string, EarlyAnswer> | undefined;
}

/** A day read longer ago than this may have been changed elsewhere. */
const KEPT_MS = 10_000;

/** Called by the early script, with the token of the session that this browser keeps. */
export function askEarly(addresses: readonly string[], token: string, publishableKey: string): void {
  const authorization = `Bearer ${token}`;
  const headers = { accept: 'application/json', apikey: publishableKey, authorization };
  globalThis.hustleForgeEarly = new Map(
    addresses.map((address) => {
      const answer = fetch(address, { headers, signal: AbortSignal.timeout(KEPT_MS) });
      // Whoever takes it hears of the failure; until somebody does, it is no unhandled one.
      answer.catch(() => {});
      return [address, { authorization, answer }];
    }),
  );
  setTimeout(forgetEarlyAnswers, KEPT_MS);
}

export function forgetEarlyAnswers(): void {
  globalThis.hustleForgeEarly = undefined;
}

/** `fetch`, but a request that is already on its way is not sent again. Each answer is given once. */
export const fetchOnce: typeof fetch = (input, init) => {
  const early = globalThis.hustleForgeEarly;
  if (!early) return fetch(input, init);
  if ((init?.method ?? 'GET') !== 'GET') {
    // What was read before a write is no longer what is stored.
    forgetEarlyAnswers();
    return fetch(input, init);
  }
  const address = input instanceof Request ? input.url : input.toString();
  const asked = early.get(address);
  if (!asked || asked.authorization !== new Headers(init?.headers).get('authorization')) return fetch(input, init);
  early.delete(address);
  return asked.answer;
};
