import { describe, expect, test } from 'vitest';
import { emailProblem, newPasswordProblem, profileProblem, signUpProblem } from './account.ts';

test.each(['a@b.c', 'pat+log@example.co.uk', ' pat@example.com '])('%j is taken as an address', (email) => {
  expect(emailProblem(email)).toBeNull();
});
test.each(['', 'pat', 'pat@example', '@example.com', 'pat @example.com', 'a@b@c.d'])('%j is no address', (email) => {
  expect(emailProblem(email)).toBe('Please enter a valid email address');
});

describe('signing up', () => {
  test('asks for the terms first, then for a password of six', () => {
    expect(signUpProblem({ password: '', acceptsTerms: false })).toMatch(/^You must accept the Terms/);
    expect(signUpProblem({ password: '12345', acceptsTerms: true })).toBe(
      'Password must be at least 6 characters long',
    );
    expect(signUpProblem({ password: '123456', acceptsTerms: true })).toBeNull();
  });
});

describe('a new password', () => {
  test('must be typed twice the same, then be long enough', () => {
    expect(newPasswordProblem('abc', 'abd')).toBe('Passwords do not match');
    expect(newPasswordProblem('abc', 'abc')).toBe('Password must be at least 6 characters');
    expect(newPasswordProblem('abcdef', 'abcdef')).toBeNull();
  });
});

describe('the profile form', () => {
  const now = { name: 'Pat', email: 'pat@example.com' };
  test.each([
    [{ ...now, password: '', confirmation: '' }, 'No changes to save'],
    [{ name: ' Pat ', email: ' pat@example.com', password: '', confirmation: '' }, 'No changes to save'],
    [{ ...now, name: 'Patricia', password: '', confirmation: '' }, null],
    [{ ...now, password: 'abcdef', confirmation: '' }, 'Passwords do not match'],
    [{ ...now, password: '', confirmation: 'abcdef' }, 'Passwords do not match'],
    [{ ...now, password: 'abc', confirmation: 'abc' }, 'Password must be at least 6 characters long'],
    [{ ...now, password: 'abcdef', confirmation: 'abcdef' }, null],
  ])('%j -> %j', (form, expected) => {
    expect(profileProblem(form, now)).toBe(expected);
  });
});
