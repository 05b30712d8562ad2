// @vitest-environment happy-dom
import type { User } from '@supabase/auth-js';
import { expect, test } from 'vitest';
import type { ClientConfig } from '#domain/client-config.ts';
import { accountWays } from './sign-in-overlay.tsx';

const SIGN_IN: ClientConfig['signIn'] = {
  signups: true,
  providers: [
    { name: 'google', label: 'Google' },
    { name: 'github', label: 'GitHub' },
  ],
  linking: true,
  passkeys: true,
  mailCodes: true,
  phone: true,
  sso: true,
  captcha: null,
  wallets: { ethereum: true, solana: false },
};

const known = (facts: Partial<Parameters<typeof accountWays>[1]> = {}) => ({
  signIn: SIGN_IN,
  lastWay: null,
  hasPasskeys: true,
  ...facts,
});

const userOf = (providers: [string, ...string[]], facts: Partial<User> = {}): User => ({
  id: '0f1d2c3b-1234-4000-8000-0123456789ab',
  aud: 'authenticated',
  created_at: '2026-11-22T10:00:00Z',
  app_metadata: { provider: providers[0], providers },
  user_metadata: {},
  identities: [],
  email: 'jo@example.com',
  phone: '',
  ...facts,
});

test.each([
  ['a password', userOf(['email']), ['password', 'passkey', 'mailCode']],
  ['Google', userOf(['google']), ['provider:google', 'password', 'passkey', 'mailCode']],
  ['a wallet', userOf(['web3'], { email: '' }), ['wallet', 'passkey']],
  ['a number', userOf(['phone'], { email: '', phone: '15550123456' }), ['phoneCode', 'passkey']],
  ['a provider that is no longer set up', userOf(['gitlab'], { email: '' }), ['passkey']],
])('offers an account that began with %s that way first', (_, user, ways) => {
  expect(accountWays(user, known())).toEqual(ways);
});

test('offers the way that signed in last first, if the account has it', () => {
  const user = userOf(['email', 'github']);
  expect(accountWays(user, known({ lastWay: 'provider:github' }))[0]).toBe('provider:github');
  expect(accountWays(user, known({ lastWay: 'mailCode' }))[0]).toBe('mailCode');
  for (const other of ['provider:google', 'wallet', 'sso', 'nonsense', ''])
    expect(accountWays(user, known({ lastWay: other }))[0], other).toBe('password');
});

test('offers a user of single sign-on nothing else', () => {
  const identity = { provider: 'sso:0f1d' } as NonNullable<User['identities']>[number];
  expect(accountWays(userOf(['sso:0f1d'], { identities: [identity] }), known({ lastWay: 'password' }))).toEqual([
    'sso',
  ]);
});

test('has no way back in for an anonymous user', () => {
  const user = userOf(['email'], { email: '', is_anonymous: true, app_metadata: {} });
  expect(accountWays(user, known())).toEqual([]);
});

test('offers only what the server has set up', () => {
  const wallets = { ethereum: false, solana: false };
  const signIn = { ...SIGN_IN, passkeys: false, mailCodes: false, phone: false, wallets };
  const user = userOf(['email', 'phone', 'web3'], { phone: '15550123456' });
  expect(accountWays(user, known({ signIn, lastWay: 'passkey' }))).toEqual(['password']);
  expect(accountWays(user, known({ signIn: { ...signIn, wallets: { ethereum: false, solana: true } } }))).toEqual([
    'password',
    'wallet',
  ]);
});

test('offers a passkey only if the account has one, or if there is no other way', () => {
  const facts = known({ lastWay: 'passkey', hasPasskeys: false });
  expect(accountWays(userOf(['email']), facts)).toEqual(['password', 'mailCode']);
  expect(accountWays(userOf(['gitlab'], { email: '' }), facts)).toEqual(['passkey']);
  expect(accountWays(userOf(['gitlab'], { email: '' }), { ...facts, signIn: { ...SIGN_IN, passkeys: false } })).toEqual(
    [],
  );
});
