import { describe, expect, test } from 'vitest';
import { findAuthLink } from './auth-link.ts';

const at = (href: string) => {
  const { pathname, search, hash } = new URL(href, 'https://journal.example.com');
  return findAuthLink({ pathname, search, hash });
};
const TOKENS = 'access_token=a.b.c&refresh_token=r&expires_in=3600&token_type=bearer';

describe('an auth link opens the screen that handles it, from any page', () => {
  test.each([
    [`/#${TOKENS}&type=recovery`, '/reset-password'],
    [`/journal?date=2026-11-02#${TOKENS}&type=recovery`, '/reset-password'],
    [`/reset-password?${TOKENS}&type=recovery`, '/reset-password'],
    ['/reset-password?token_hash=h&type=recovery', '/reset-password'],
    ['/reset-password#error=access_denied&error_code=otp_expired&sb=', '/reset-password'],
    [`/reset-password#${TOKENS}&type=magiclink`, '/reset-password'],
    ['/reset-password?token_hash=h&type=signup', '/reset-password'],
    [`/privacy-policy#${TOKENS}&type=magiclink`, '/login'],
    [`/reviews#${TOKENS}`, '/login'],
    ['/login?token_hash=h&type=signup', '/login'],
    ['/signup#error=server_error', '/login'],
    ['/?error=access_denied#error=access_denied', '/login'],
    ['/login?flow=signIn&provider=google&sb_flow_id=0123456789abcdef&code=c', '/login'],
    ['/journal?code=c', '/login'],
    ['/journal#message=Confirmation+link+accepted&sb=', '/login'],
  ])('%s -> %s', (href, path) => expect(at(href)?.path).toBe(path));
});

test('reads parameters from the query and the fragment', () => {
  const params = new URLSearchParams(at('/login?type=signup#token_hash=h')!.params);
  expect([params.get('type'), params.get('token_hash')]).toEqual(['signup', 'h']);
});

test.each([
  '/',
  '/journal?date=2026-11-02',
  '/journal?payment=success&token=5E6ABCDEFGHIJKLMN&PayerID=X',
  '/receipt?payment=1b1e',
  '/#message=hello',
  '/journal?decode=1',
  '/#main',
])('ignores %s', (href) => expect(at(href)).toBeNull());

test('reads a long fragment in linear time', () => {
  // Quadratic time would exceed the test's timeout.
  expect(at(`/#${'&message='.repeat(400_000)}`)).toBeNull();
});
