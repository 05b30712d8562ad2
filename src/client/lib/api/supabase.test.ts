/** Most pages need auth-js only for what the stored session cannot do. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientConfig } from '#domain/client-config.ts';
import { sessionStorageKey } from '../session/storage-keys.ts';
import { createSupabase } from './supabase.ts';

const authClient = vi.hoisted(() => ({ loads: 0 }));
vi.mock('./auth-client.ts', async (original) => {
  authClient.loads += 1;
  return original();
});

const CONFIG = { apiUrl: 'http://server', publishableKey: 'key' } as ClientConfig;
const store = (token: string, secondsLeft: number): void =>
  localStorage.setItem(
    sessionStorageKey(CONFIG.apiUrl),
    JSON.stringify({
      access_token: token,
      refresh_token: 'r',
      expires_at: Math.floor(Date.now() / 1_000) + secondsLeft,
      user: { id: 'ada' },
    }),
  );

beforeEach(() => {
  // auth-js uses the storage of a browser alone.
  vi.stubGlobal('window', {});
  vi.stubGlobal('document', {});
  const items = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
});
afterEach(() => vi.unstubAllGlobals());

test('a request has the token of the stored session without auth-js, and a renewed token once it expires', async () => {
  const tokens: (string | null)[] = [];
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    tokens.push(new Headers(init.headers).get('authorization'));
    return Promise.resolve(Response.json({}));
  });
  const renewed = {
    access_token: 'new',
    refresh_token: 's',
    token_type: 'bearer',
    expires_in: 3_600,
    user: { id: 'ada' },
  };
  const authFetch = vi.fn(() => Promise.resolve(Response.json(renewed)));
  const supabase = createSupabase(CONFIG, authFetch);
  const events: string[] = [];
  supabase.onAuthStateChange((event) => void events.push(event));

  store('stored', 100);
  await supabase.ask('/rest/v1/entries');
  store('renewed by another tab', 100);
  await supabase.ask('/rest/v1/entries');
  expect([authClient.loads, authFetch.mock.calls.length]).toEqual([0, 0]);

  store('expiring', 80);
  await supabase.ask('/rest/v1/entries');
  expect(authClient.loads).toBe(1);
  expect(tokens).toEqual(['stored', 'renewed by another tab', 'new'].map((token) => `Bearer ${token}`));
  // A listener from before auth-js loaded hears of it.
  await expect.poll(() => events).toContain('INITIAL_SESSION');
});

test('a request without a session and without the code of auth-js fails as without a network', async () => {
  vi.doMock('./auth-client.ts', () => Promise.reject(new TypeError('the chunk did not arrive')));
  vi.resetModules();
  const { createSupabase: create } = await import('./supabase.ts');
  const supabase = create(CONFIG, fetch);
  await expect(supabase.ask('/rest/v1/entries')).rejects.toThrow();
  vi.doUnmock('./auth-client.ts');
});

test.each([
  [{ error: 'Links are full.' }, 'Links are full.'],
  [{ message: 'Bad gateway' }, undefined],
  [{ error: { message: 'Bad gateway' } }, undefined],
])('a function answers %j with the error %j', async (body, error) => {
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json(body, { status: 502 })));
  store('stored', 100);
  const answer = await createSupabase(CONFIG, fetch).callFunction('create-link', {});
  expect([answer.success, answer.error]).toEqual([false, error]);
});
