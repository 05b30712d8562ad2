/**
 * Decides whether a password is easy to guess, with the local lists and patterns of zxcvbn: no service is asked. The
 * server imports this module only in the password thread, because some inputs take 10 ms, and only to assess a new
 * password, because the lists take 30 MB. That thread ends once it is idle.
 */
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** A password that takes fewer guesses is refused. Online, a stranger has 50 guesses a day (`rate-limits.ts`). */
const MIN_GUESSES = 1e6;
/** As MIN_GUESSES, for the rest of a password after the words of its owner and of the product were removed. */
const MIN_GUESSES_BESIDES_OWN_WORDS = 1e4;
/**
 * Only the first characters are examined. Threat: with 72 characters, a password of brackets keeps the thread busy for
 * 600 ms; with 24 it takes no longer than argon2id. A password that starts with 24 guessable characters is refused,
 * whatever follows.
 */
const MAX_LENGTH = 24;
const MIN_OWN_WORD_LENGTH = 3;
const OUTER_PUNCTUATION = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

const PRODUCT_WORDS = ['hustleforge', 'hustle', 'forge', 'journal'];

const zxcvbn = new ZxcvbnFactory({
  dictionary,
  graphs: adjacencyGraphs,
  maxLength: MAX_LENGTH,
  l33tMaxSubstitutions: 20,
});

/** @param ownTexts what is known of the owner, such as name and address */
export function isGuessablePassword(password: string, ownTexts: readonly string[]): boolean {
  const ownWords = [...new Set([...PRODUCT_WORDS, ...ownTexts.flatMap(splitWords)])];
  if (estimateGuesses(password, ownWords) < MIN_GUESSES) return true;
  const rest = removeWords(password, ownWords);
  return rest !== password.toLowerCase() && estimateGuesses(rest, ownWords) < MIN_GUESSES_BESIDES_OWN_WORDS;
}

/**
 * The whole text as one word, and its parts: `Sam.Fox@mail.example` gives `samfoxmailexample`, `sam`, `fox` and so on.
 */
function splitWords(text: string): string[] {
  const parts = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [parts.join(''), ...parts].filter((word) => word.length >= MIN_OWN_WORD_LENGTH);
}

function removeWords(password: string, words: readonly string[]): string {
  let rest = password.toLowerCase();
  for (const word of words.toSorted((a, b) => b.length - a.length)) rest = rest.replaceAll(word, '');
  return rest;
}

/**
 * zxcvbn takes punctuation around a word for random characters. Attackers append punctuation by rule (`Summer2024!!`),
 * so each different punctuation character only multiplies the guesses by ten.
 */
function estimateGuesses(password: string, ownWords: string[]): number {
  if (password === '') return 0;
  const { guesses } = zxcvbn.check(password, ownWords);
  const core = password.replaceAll(OUTER_PUNCTUATION, '');
  if (core === '' || core === password) return guesses;
  const punctuation = new Set((password.match(OUTER_PUNCTUATION) ?? []).join(''));
  return Math.min(guesses, zxcvbn.check(core, ownWords).guesses * 10 ** punctuation.size);
}
