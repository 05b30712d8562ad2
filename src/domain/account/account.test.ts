import { describe, expect, test } from 'vitest';
import {
  COMMON_PASSWORD_PROBLEM,
  GUESSABLE_PASSWORD_PROBLEM,
  isCommonPassword,
  passwordMessage,
  parseCode,
  validateEmail,
  validateNewPassword,
  validateProfile,
  validateSignUp,
} from './account.ts';

test.each(['a@b.c', 'pat+log@example.co.uk', ' pat@example.com '])('validateEmail accepts %j', (email) => {
  expect(validateEmail(email)).toBeNull();
});
test.each(['', 'pat', 'pat@example', '@example.com', 'pat @example.com', 'a@b@c.d'])(
  'validateEmail rejects %j',
  (email) => {
    expect(validateEmail(email)).toBe('Please enter a valid email address');
  },
);

test.each([
  ...['123456', '12345678', '1234567890', '654321', '111111', '121212', '123123', 'aaaaaaaa', 'abcdefgh', 'ABCDEF'],
  ...['password', 'Password1', 'P@ssw0rd', 'qwerty', 'QwErTy123', '1q2w3e4r', 'letmein', 'iloveyou', 'abc123'],
])('%s is a common password', (password) => expect(isCommonPassword(password)).toBe(true));

test.each([
  'correct horse',
  'a better password',
  '192837',
  'tr0ub4dor',
  'abcdez',
  '12345x',
  'haha haha',
  'äöüäöö',
  '👍👎👍👎👍',
])('%s is not a common password', (password) => expect(isCommonPassword(password)).toBe(false));

describe('validateSignUp', () => {
  test('checks the terms first, then the length of the password, then common passwords', () => {
    expect(validateSignUp({ password: '', acceptsTerms: false })).toMatch(/^You must accept the Terms/);
    expect(validateSignUp({ password: '12345', acceptsTerms: true })).toBe(
      'Password must be at least 6 characters long',
    );
    expect(validateSignUp({ password: '123456', acceptsTerms: true })).toBe(COMMON_PASSWORD_PROBLEM);
    expect(validateSignUp({ password: '1923-x', acceptsTerms: true })).toBeNull();
  });
});

describe('validateNewPassword', () => {
  test('checks the confirmation first, then the length, then common passwords', () => {
    expect(validateNewPassword('abc', 'abd')).toBe('Passwords do not match');
    expect(validateNewPassword('abc', 'abc')).toBe('Password must be at least 6 characters');
    expect(validateNewPassword('abcdef', 'abcdef')).toBe(COMMON_PASSWORD_PROBLEM);
    expect(validateNewPassword('anvils', 'anvils')).toBeNull();
  });
});

describe('validateProfile', () => {
  const now = { name: 'Pat', email: 'pat@example.com' };
  test.each([
    [{ ...now, password: '', confirmation: '' }, 'No changes to save'],
    [{ name: ' Pat ', email: ' pat@example.com', password: '', confirmation: '' }, 'No changes to save'],
    [{ ...now, name: 'Patricia', password: '', confirmation: '' }, null],
    [{ ...now, password: 'abcdef', confirmation: '' }, 'Passwords do not match'],
    [{ ...now, password: '', confirmation: 'abcdef' }, 'Passwords do not match'],
    [{ ...now, password: 'abc', confirmation: 'abc' }, 'Password must be at least 6 characters long'],
    [{ ...now, password: 'abcdef', confirmation: 'abcdef' }, COMMON_PASSWORD_PROBLEM],
    [{ ...now, password: 'anvils', confirmation: 'anvils' }, null],
  ])('%j -> %j', (form, expected) => {
    expect(validateProfile(form, now)).toBe(expected);
  });
});

test.each(['042117', ' 042117 ', '042 117', '042-117', '042–117', '042\u00a0117', '0 4 2 1 1 7\n', '０４２１１７'])(
  'parseCode reads 042117 from %j',
  (typed) => expect(parseCode(typed)).toBe('042117'),
);
test.each(['', '04211', '0421177', 'O42117', '042117 is it', '4.2117'])('parseCode rejects %j', (typed) => {
  expect(parseCode(typed)).toBeNull();
});

test('a password that the server refuses as guessable has a message of its own', () => {
  const otherwise = () => 'another message';
  expect(passwordMessage({ code: 'weak_password', message: 'x' }, otherwise)).toBe(GUESSABLE_PASSWORD_PROBLEM);
  expect(passwordMessage({ code: 'same_password', message: 'x' }, otherwise)).toBe('another message');
});
