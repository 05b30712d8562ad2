import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unicodeText } from '../../../../tests/support/unicode-text.ts';
import { isGuessablePassword } from './guessable-password.ts';

const OWNER = ['sam.tester@mailbox.example', 'Sam Tester'];

describe('a guessable password', () => {
  test.each([
    'Password1!',
    'P@ssw0rd123',
    'qwerty2024',
    'Summer2024!',
    'Welcome2024!!',
    'letmein!',
    'zxcvbnm1',
    'hunter2',
    'liverpool1',
    '19870412',
    'aaaaaaaaaa1',
    'abc12345',
    'passwordpasswordpassword',
  ])('is one that attackers try first: %s', (password) => expect(isGuessablePassword(password, OWNER)).toBe(true));

  test.each(['hustleforge', 'HustleForge2024', 'Hustle-Forge1', 'my journal', 'HUSTLE!!!forge'])(
    'is made of the name of the product: %s',
    (password) => expect(isGuessablePassword(password, OWNER)).toBe(true),
  );

  test.each(['sam.tester@mailbox.example', 'SamTester', 'tester-sam-1987', 'samtester@mailbox', 'Tester123!'])(
    'is made of the name or address of its owner: %s',
    (password) => expect(isGuessablePassword(password, OWNER)).toBe(true),
  );
});

describe('a password that is hard to guess', () => {
  test.each([
    'correct horse',
    'correct horse battery staple',
    'a new horse',
    'quite another',
    'another horse',
    'a better password',
    'another pass',
    'chosen by a stranger',
    'yet another',
    'correct horse battery',
    'a stranger chose this',
    'tamarind kelp',
    'xK9$mQ2v',
    'sam keeps eleven geese',
    'sturdy-hustle-lantern',
    'größer als gedacht',
    '我的工作日记很长',
  ])('is accepted: %s', (password) => expect(isGuessablePassword(password, OWNER)).toBe(false));

  test('is accepted from an owner of any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        expect(isGuessablePassword('lantern-tamarind-92-kelp', [text, 'someone@example.com'])).toBe(false);
      }),
      { numRuns: 15 },
    );
  });
});

test('isGuessablePassword returns a boolean for any text', () => {
  fc.assert(
    fc.property(unicodeText({ minLength: 1, maxLength: 72 }), (password) => {
      expect(typeof isGuessablePassword(password, OWNER)).toBe('boolean');
    }),
    { numRuns: 15 },
  );
});
