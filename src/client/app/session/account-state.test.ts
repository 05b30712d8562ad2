import type { Session, User } from '@supabase/auth-js';
import { describe, expect, test } from 'vitest';
import { LOADING, reduceAccount, SIGNED_OUT } from './session-provider.tsx';

const factor = { id: 'f', factor_type: 'totp', status: 'verified' } as const;

function sessionOf(id: string, aal: string, factors: readonly object[] = []): Session {
  const user = { id, factors, updated_at: '2026-11-22T10:00:00Z' } as unknown as User;
  const claims = btoa(JSON.stringify({ sub: id, aal }))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return { access_token: `e30.${claims}.c2ln`, refresh_token: 'r', expires_in: 3600, token_type: 'bearer', user };
}
const signedIn = reduceAccount(LOADING, sessionOf('ada', 'aal1'), null);

test('a repeated sign-in event of the same user keeps the state object', () => {
  expect(reduceAccount(signedIn, sessionOf('ada', 'aal1'), null)).toBe(signedIn);
  const enrolled = sessionOf('ada', 'aal2', [factor]);
  expect(reduceAccount(signedIn, enrolled, null).user).toBe(enrolled.user);
});

test('a lost session is expired, unless its user has asked to sign out', () => {
  expect(reduceAccount(signedIn, null, null)).toMatchObject({ status: 'signedIn', expired: true });
  expect(reduceAccount(signedIn, null, 'ada')).toMatchObject({ status: 'signedOut', leaving: true });
});

describe('a session of a user with a verified second factor', () => {
  const half = sessionOf('ada', 'aal1', [factor]);
  const whole = sessionOf('ada', 'aal2', [factor]);

  test('is no sign-in before its second step', () => {
    const waiting = reduceAccount(LOADING, half, null);
    expect(waiting).toEqual({ ...SIGNED_OUT, secondStepUser: half.user });
    expect(reduceAccount(waiting, half, null)).toBe(waiting);
    expect(reduceAccount(waiting, whole, null)).toEqual({ ...SIGNED_OUT, status: 'signedIn', user: whole.user });
    expect(reduceAccount(waiting, null, null)).toEqual(SIGNED_OUT);
  });

  test('keeps the page of the same user, which waits for the second step', () => {
    const expired = reduceAccount(signedIn, null, null);
    for (const before of [expired, signedIn]) {
      const waiting = reduceAccount(before, half, null);
      expect(waiting).toMatchObject({ status: 'signedIn', expired: true, secondStepUser: half.user });
      expect(reduceAccount(waiting, null, null)).toMatchObject({ expired: true, secondStepUser: null });
    }
  });

  test('ends the sign-in of another user on the page', () => {
    const waiting = reduceAccount(signedIn, sessionOf('bob', 'aal1', [factor]), null);
    expect(waiting).toMatchObject({ status: 'signedOut', user: null, secondStepUser: { id: 'bob' } });
  });

  test('needs a second step if its token cannot be read, or the factor is one of several', () => {
    const unreadable = { ...half, access_token: 'not a token' };
    expect(reduceAccount(LOADING, unreadable, null).user).toBeNull();
    const pending = { ...factor, status: 'unverified' };
    expect(reduceAccount(LOADING, sessionOf('ada', 'aal1', [pending, factor]), null).user).toBeNull();
    expect(reduceAccount(LOADING, sessionOf('ada', 'aal1', [pending]), null).user).not.toBeNull();
  });
});
