/**
 * Simulates hCaptcha and Turnstile: issues tokens for solved captchas and answers `siteverify` in either protocol
 * (docs/specification/providers.md 8).
 */
import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../host.ts';
import { FaultQueue } from '../faults.ts';

export type CaptchaProvider = 'hcaptcha' | 'turnstile';

export const SITE_KEY = '10000000-ffff-ffff-ffff-000000000001';
export const SECRET = '0x0000000000000000000000000000000000000000';

/** The longest time between solving and verifying. */
const TOKEN_LIFETIME_MS: Readonly<Record<CaptchaProvider, number>> = { hcaptcha: 120_000, turnstile: 300_000 };
const MAX_TURNSTILE_TOKEN_LENGTH = 2_048;

type Solved = { hostname: string; siteKey: string; solvedAt: number; isSpent: boolean };

export type CaptchaFault = {
  path?: string;
  times?: number;
  /** The status of the answer; its body is `body`, or HTML. */
  status?: number;
  body?: string;
  /** The `Location` header of a redirect. */
  location?: string;
  /** Answers after this time. */
  delayMs?: number;
  /** Closes the connection without an answer. */
  drop?: boolean;
};

export type CaptchaAnswer = { status: number; body: string; location?: string; delayMs: number; drop: boolean };

export type CaptchaControl = {
  /** Solves a captcha on a page of `hostname`, as the widget does, and returns its token. */
  solve(page: { hostname: string; siteKey?: string }): string;
  fail(fault: CaptchaFault): void;
  /** The verifications so far, oldest first. */
  requests(): readonly ApiRequest[];
  reset(): void;
};

export type CaptchaSimulator = {
  control: CaptchaControl;
  /** Null for an unknown path. */
  answer(request: ApiRequest): CaptchaAnswer | null;
};

const PATHS: Readonly<Record<string, CaptchaProvider>> = {
  '/siteverify': 'hcaptcha',
  '/turnstile/v0/siteverify': 'turnstile',
};

export function createCaptchaSimulator(now: () => number = Date.now): CaptchaSimulator {
  const tokens = new Map<string, Solved>();
  const faults = new FaultQueue<CaptchaFault>();
  let requests: ApiRequest[] = [];

  function verify(provider: CaptchaProvider, fields: Map<string, string>): object {
    const refuse = (...codes: string[]): object => ({ success: false, 'error-codes': codes });
    const [secret, token, siteKey] = [fields.get('secret'), fields.get('response'), fields.get('sitekey')];
    if (!secret) return refuse('missing-input-secret');
    if (secret !== SECRET) return refuse('invalid-input-secret');
    if (!token) return refuse('missing-input-response');
    const solved = tokens.get(token);
    const isTooLong = provider === 'turnstile' && token.length > MAX_TURNSTILE_TOKEN_LENGTH;
    if (!solved || isTooLong) return refuse('invalid-input-response');
    if (provider === 'hcaptcha' && siteKey !== undefined && siteKey !== solved.siteKey) {
      return refuse('sitekey-secret-mismatch');
    }
    const isExpired = now() - solved.solvedAt > TOKEN_LIFETIME_MS[provider];
    if (solved.isSpent || isExpired) {
      return refuse(provider === 'hcaptcha' ? 'invalid-or-already-seen-response' : 'timeout-or-duplicate');
    }
    solved.isSpent = true;
    const facts = { challenge_ts: new Date(solved.solvedAt).toISOString(), hostname: solved.hostname };
    return provider === 'hcaptcha'
      ? { success: true, ...facts, credit: false }
      : { success: true, 'error-codes': [], ...facts, action: '', cdata: '' };
  }

  return {
    control: {
      solve({ hostname, siteKey = SITE_KEY }) {
        const token = `P1_${randomUUID()}`;
        tokens.set(token, { hostname, siteKey, solvedAt: now(), isSpent: false });
        return token;
      },
      fail: (fault) => faults.add(fault),
      requests: () => requests,
      reset() {
        tokens.clear();
        faults.clear();
        requests = [];
      },
    },
    answer(request) {
      const provider = PATHS[request.path];
      if (provider === undefined) return null;
      requests.push(request);
      const { status, body, location, delayMs = 0, drop = false } = faults.take(request) ?? {};
      if (status !== undefined || body !== undefined) {
        const text = body ?? '<h1>Bad Gateway</h1>';
        return { status: status ?? 200, body: text, ...(location !== undefined && { location }), delayMs, drop };
      }
      const fields = readFields(provider, request);
      const answer = fields === null ? { success: false, 'error-codes': ['bad-request'] } : verify(provider, fields);
      return { status: 200, body: JSON.stringify(answer), delayMs, drop };
    },
  };
}

/** hCaptcha takes a form only, Turnstile also JSON. Null for another type of body and for malformed JSON. */
function readFields(provider: CaptchaProvider, { headers, body }: ApiRequest): Map<string, string> | null {
  const type = headers['content-type']?.split(';')[0];
  if (type === 'application/x-www-form-urlencoded') return new Map(new URLSearchParams(body));
  if (type !== 'application/json' || provider === 'hcaptcha') return null;
  try {
    const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
    return new Map(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
  } catch {
    return null;
  }
}
