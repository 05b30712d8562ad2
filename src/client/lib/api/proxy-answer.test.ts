/** Answers of a proxy in front of the server neither end the session nor count as answers of the API. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientConfig } from '#domain/client-config.ts';
import { createAuthFetch } from '#client/app/session/auth-fetch.ts';
import { subscribeToProxyAnswers, createSupabase } from './supabase.ts';

const CONFIG = { apiUrl: 'http://server', publishableKey: 'key', signIn: { captcha: null } } as ClientConfig;
const HOUR_SECONDS = 3_600;
const encode = (claims: object): string => btoa(JSON.stringify(claims));
const TOKEN = `${encode({ alg: 'ES256' })}.${encode({ sub: 'ada', aal: 'aal1' })}.signature`;
const SESSION = {
  access_token: TOKEN,
  refresh_token: 'r',
  token_type: 'bearer',
  expires_in: HOUR_SECONDS,
  user: { id: 'ada', factors: [] },
};

const html = (status: number) => new Response('<h1>Sign in</h1>', { status, headers: { 'content-type': 'text/html' } });
const basic = () => new Response('Unauthorized', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } });

beforeEach(() => {
  const items = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A signed-in client. `answer` answers every later request. */
async function signedIn(answer: (url: string) => Response) {
  const requests: string[] = [];
  vi.stubGlobal('fetch', async () => Response.json(SESSION));
  const supabase = createSupabase(CONFIG, createAuthFetch(CONFIG));
  const auth = await supabase.loadAuth();
  await auth.signInWithPassword({ email: 'ada@example.com', password: 'x' });
  vi.stubGlobal('fetch', async (url: string) => {
    requests.push(url);
    return answer(url);
  });
  const send = () => supabase.withSession(fetch)('http://server/rest/v1/entries');
  const hasSession = async () => (await auth.getSession()).data.session !== null;
  return { supabase, send, requests, hasSession };
}

test.each([
  ['401 with a page', () => html(401)],
  ['403 with a page', () => html(403)],
  ['200 with a page', () => html(200)],
  ['401 that asks for a password of its own', basic],
])('%s is told and neither renews nor ends the session', async (_what, answer) => {
  const listener = vi.fn();
  const unsubscribe = subscribeToProxyAnswers(listener);
  const { send, requests, hasSession } = await signedIn(answer);
  await send();
  unsubscribe();
  expect(listener).toHaveBeenCalled();
  expect(requests).toEqual(['http://server/rest/v1/entries']);
  expect(await hasSession()).toBe(true);
});

test.each([
  ['401 with a page', () => html(401)],
  ['200 with a page', () => html(200)],
])('%s at a renewal leaves the session', async (_what, answer) => {
  const { supabase, hasSession } = await signedIn(answer);
  const renewal = supabase.renewOrEndSession();
  // auth-js tries again for half a minute.
  await vi.advanceTimersByTimeAsync(60_000);
  await renewal;
  expect(await hasSession()).toBe(true);
});

test('an error of the API and the page of a proxy without its server are not told', async () => {
  const listener = vi.fn();
  const unsubscribe = subscribeToProxyAnswers(listener);
  for (const answer of [() => Response.json({ code: 'x' }, { status: 403 }), () => html(502), () => html(404)]) {
    const { send } = await signedIn(answer);
    await send();
  }
  unsubscribe();
  expect(listener).not.toHaveBeenCalled();
});

test('an ended session still ends', async () => {
  const refusal = { code: 'session_not_found', message: 'm' };
  const { send, hasSession } = await signedIn(() => Response.json(refusal, { status: 401 }));
  await send();
  expect(await hasSession()).toBe(false);
});
