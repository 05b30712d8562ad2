import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharedTextAddress, sharedTextOf } from './shared-text.ts';

function shared(search: string): string | null {
  const query = new URLSearchParams(search);
  return sharedTextOf(
    new URL(
      sharedTextAddress((name) => query.get(name)),
      'http://x',
    ).hash,
  );
}

describe('shared text', () => {
  test.each([
    ['?text=Called%20Miller', 'Called Miller'],
    ['?title=The%20title&text=Words&url=https://a.example/', 'The title\nWords\nhttps://a.example/'],
    ['?text=See+https%3A%2F%2Fa.example%2F&url=https%3A%2F%2Fa.example%2F', 'See https://a.example/'],
    ['?title=Same&text=Same', 'Same'],
    ['?title=Miller&text=Miller%20said%20yes', 'Miller said yes'],
    ['?text=%20%20&title=', null],
    ['', null],
    ['?other=1', null],
  ])('%s becomes %s', (search, expected) => {
    expect(shared(search)).toBe(expected);
  });

  test('every text arrives unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const search = `?${new URLSearchParams({ text }).toString()}`;
        expect(shared(search)).toBe(text.trim().toWellFormed() || null);
      }),
    );
  });

  test('a text that is longer than any address that a server accepts is cut', () => {
    const text = shared(`?text=${'a'.repeat(300_000)}`);
    expect(text).toBe(`${'a'.repeat(16_000)}…`);
    expect(shared(`?text=${'a'.repeat(16_000)}`)).toHaveLength(16_000);
  });

  test('other fragments carry no shared text', () => {
    expect(sharedTextOf('#access_token=abc')).toBeNull();
    expect(sharedTextOf('')).toBeNull();
  });
});
