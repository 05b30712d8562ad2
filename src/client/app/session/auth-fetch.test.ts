import { AuthClient } from '@supabase/auth-js';
import { afterEach, expect, test, vi } from 'vitest';
import type { ClientConfig } from '#domain/client-config.ts';
import { createAuthFetch } from './auth-fetch.ts';

const HOUR_SECONDS = 3_600;
const nowSeconds = (): number => Math.floor(Date.now() / 1_000);
const authFetch = createAuthFetch({ signIn: { captcha: null } } as ClientConfig);

afterEach(() => vi.unstubAllGlobals());

test.each([-3, 3])('a session ends by the clock of a device that is %i hours off', async (hours) => {
  const answer = { access_token: 'a', refresh_token: 'r', token_type: 'bearer', expires_in: HOUR_SECONDS, user: {} };
  const session = { ...answer, expires_at: nowSeconds() + (hours + 1) * HOUR_SECONDS };
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json(session)));
  const auth = new AuthClient({
    url: 'http://server',
    fetch: authFetch,
    persistSession: false,
    autoRefreshToken: false,
  });
  const { data } = await auth.signInWithPassword({ email: 'a@example.com', password: 'x' });
  expect(Math.abs(data.session!.expires_at! - nowSeconds() - HOUR_SECONDS)).toBeLessThan(60);
});
