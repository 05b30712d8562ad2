/** PayPal's access token: fetched single-flight and cached until shortly before it expires. */
import type { Clock } from '../../clock.ts';
import { singleFlight } from '#server/load/single-flight.ts';
import { valueAt, textAt } from './json-value.ts';
import type { Answer } from './http-request.ts';

/** Keeps a token from expiring in flight. */
const MARGIN_MS = 60_000;

export type AccessToken = {
  get(): Promise<string>;
  /** Forgets a token that PayPal rejected. A newer token, fetched by another call, stays cached. */
  drop(token: string): void;
};

/**
 * `fetchToken` requests a token from PayPal and rejects on failure. `refuse` makes the error for an unusable answer.
 */
export function createAccessToken(deps: {
  clock: Clock;
  fetchToken: () => Promise<Answer>;
  refuse: (answer: Answer) => Error;
}): AccessToken {
  const { clock, fetchToken, refuse } = deps;
  let held: { token: string; endsAt: number } | null = null;

  const renew = singleFlight(async () => {
    const answer = await fetchToken();
    const token = textAt(answer.json, 'access_token');
    const seconds = valueAt(answer.json, 'expires_in');
    // Printable ASCII only, because it becomes a header.
    if (token === null || !/^[\x21-\x7e]+$/.test(token) || typeof seconds !== 'number') throw refuse(answer);
    held = { token, endsAt: clock.now().getTime() + seconds * 1000 - MARGIN_MS };
    return token;
  });

  return {
    get() {
      if (held && clock.now().getTime() < held.endsAt) return Promise.resolve(held.token);
      return renew();
    },
    drop(token) {
      if (held?.token === token) held = null;
    },
  };
}
