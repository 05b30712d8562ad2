/** PayPal's access token: fetched once however many calls need it, kept until shortly before it ends. */
import type { Clock } from '../../clock.ts';
import { at, textAt } from './wire.ts';
import type { Answer } from './send.ts';

/** So that a token does not end on its way to PayPal. */
const MARGIN_MS = 60_000;

export type AccessToken = {
  get(): Promise<string>;
  /** PayPal refused this token; a newer one, which somebody else has fetched meanwhile, stays. */
  drop(token: string): void;
};

/** @param fetchToken asks PayPal; rejects for everything but a success. `refuse` makes the failure of an unusable answer. */
export function createAccessToken(deps: {
  clock: Clock;
  fetchToken: () => Promise<Answer>;
  refuse: (answer: Answer) => Error;
}): AccessToken {
  const { clock, fetchToken, refuse } = deps;
  let held: { token: string; endsAt: number } | null = null;
  let underWay: Promise<string> | null = null;

  async function renew(): Promise<string> {
    const answer = await fetchToken();
    const token = textAt(answer.json, 'access_token');
    const seconds = at(answer.json, 'expires_in');
    // Printable ASCII alone: it becomes a header.
    if (token === null || !/^[\x21-\x7e]+$/.test(token) || typeof seconds !== 'number') throw refuse(answer);
    held = { token, endsAt: clock.now().getTime() + seconds * 1000 - MARGIN_MS };
    return token;
  }

  return {
    get() {
      if (held && clock.now().getTime() < held.endsAt) return Promise.resolve(held.token);
      underWay ??= renew().finally(() => (underWay = null));
      return underWay;
    },
    drop(token) {
      if (held?.token === token) held = null;
    },
  };
}
