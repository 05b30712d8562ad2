/** Where an address begins and ends, and what of a pasted link is kept. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { addressOfLink, findLinks, linkTexts } from './links.ts';

const found = (text: string): string[] => findLinks(text).map(({ from, to }) => text.slice(from, to));

describe('an address in a sentence', () => {
  test.each([
    ['see https://example.com.', 'https://example.com'],
    ['see https://example.com, then', 'https://example.com'],
    ['really https://example.com/a?!', 'https://example.com/a'],
    ['(see https://example.com/a)', 'https://example.com/a'],
    ['(https://example.com/a).', 'https://example.com/a'],
    ['https://en.wikipedia.org/wiki/Forge_(band) rocks', 'https://en.wikipedia.org/wiki/Forge_(band)'],
    ['(https://en.wikipedia.org/wiki/Forge_(band))', 'https://en.wikipedia.org/wiki/Forge_(band)'],
    ['[https://a.b/c[1]]', 'https://a.b/c[1]'],
    ['"https://example.com/a"', 'https://example.com/a'],
    ['<https://example.com/a>', 'https://example.com/a'],
    ['**https://example.com/a**', 'https://example.com/a'],
    ['https://example.com/?q=a&b=c#d;', 'https://example.com/?q=a&b=c#d'],
    ['https://example.com/grüße/日本', 'https://example.com/grüße/日本'],
    ['https://bücher.example/ü', 'https://bücher.example/ü'],
    ['见https://example.com/a，然后', 'https://example.com/a'],
    ['HTTPS://EXAMPLE.COM/A', 'HTTPS://EXAMPLE.COM/A'],
    ['http://localhost:3000/x', 'http://localhost:3000/x'],
    ['http://[::1]:3000/x', 'http://[::1]:3000/x'],
    ['a\nhttps://example.com\nb', 'https://example.com'],
    ['https://example.com/\u202Emoc.live', 'https://example.com/'],
    ['https://example.com/a\u200Bb', 'https://example.com/a'],
    ['mailto:anna@example.com?subject=Hi', 'mailto:anna@example.com?subject=Hi'],
    ['Anna (anna@example.com)', 'anna@example.com'],
    ['write to anna.b+c@mail.example.co.uk.', 'anna.b+c@mail.example.co.uk'],
    ['anna@example.com: she knows', 'anna@example.com'],
  ])('%j links %j', (text, address) => {
    expect(found(text)).toEqual([address]);
  });

  test.each([
    'https://',
    'https://...',
    'http:// example.com',
    'xhttps://example.com',
    'www.example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://example.com',
    'mailto:',
    'mailto:anna',
    'git@github.com:owner/name.git',
    'ssh://git@github.com/owner',
    'npm install left-pad@1.3.0',
    '@anna said 3:15 @ home',
    'a@b',
    'rené@example.com',
  ])('%j has none', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('several in one line', () => {
    expect(found('https://a.example/1 and https://b.example/2; c@d.example')).toEqual([
      'https://a.example/1',
      'https://b.example/2',
      'c@d.example',
    ]);
  });
});

describe('whatever the text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc
      .array(
        fc.constantFrom(
          'https://',
          'http://',
          'mailto:',
          'a@b.co',
          'x',
          '(',
          ')',
          '[',
          ']',
          '.',
          ',',
          ' ',
          '"',
          'é',
          '/',
        ),
        { maxLength: 24 },
      )
      .map((parts) => parts.join('')),
  );

  test('links lie in order inside the text, hold no blank, and can only be web or mail addresses', () => {
    fc.assert(
      fc.property(texts, (text) => {
        let end = 0;
        for (const { from, to, href } of findLinks(text)) {
          expect(from).toBeGreaterThanOrEqual(end);
          expect(to).toBeGreaterThan(from);
          expect(to).toBeLessThanOrEqual(text.length);
          expect(href).toMatch(/^(?:https?:\/\/|mailto:)[^\s<>"]+$/i);
          expect(href.endsWith(text.slice(from, to))).toBe(true);
          end = to;
        }
      }),
      { numRuns: fuzzBudget(500) },
    );
  });

  test('cut into pieces anywhere, the text and its links stay the same', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 4 }), (pieces) => {
        const text = pieces.join('');
        const linked = linkTexts(pieces);
        expect(linked === null).toBe(findLinks(text).length === 0);
        if (linked === null) return;
        expect(linked.map((parts) => parts.map((part) => part.text).join(''))).toEqual(pieces);
        const linkedChars = linked.flat().reduce((sum, part) => sum + (part.href === null ? 0 : part.text.length), 0);
        expect(linkedChars).toBe(findLinks(text).reduce((sum, { from, to }) => sum + to - from, 0));
      }),
      { numRuns: fuzzBudget(500) },
    );
  });

  test('takes linear time on hostile texts', () => {
    // With quadratic time this would run into the test's limit.
    const count = 100_000;
    for (const part of [
      'https://',
      'a',
      'a.',
      'a@',
      'a@b.',
      'a@b.1',
      '(',
      ')',
      'https://a(',
      '.',
      'mailto:',
      'mailto:a@',
    ])
      for (const text of [part.repeat(count), `https://a${part.repeat(count)}`, `a@b.${part.repeat(count)}`])
        expect(findLinks(text).length).toBeLessThanOrEqual(count);
  });
});

describe('a pasted link', () => {
  const pasted = (words: string, href: string): string => {
    const { after, instead } = addressOfLink(words, href);
    return instead ?? words + (after ?? '');
  };

  test.each([
    ['the report', 'https://example.com/r?a=1', 'the report (https://example.com/r?a=1)'],
    ['https://example.com/r', 'https://example.com/r', 'https://example.com/r'],
    ['https://example.com', 'https://example.com/', 'https://example.com'],
    ['example.com/r', 'https://www.example.com/r', 'https://www.example.com/r'],
    ['https://example.com/a-long-na…', 'https://example.com/a-long-name', 'https://example.com/a-long-name'],
    ['example.com/a-lo...', 'https://example.com/a-long-name', 'https://example.com/a-long-name'],
    ['Forge', 'https://en.wikipedia.org/wiki/Forge_(band)', 'Forge (https://en.wikipedia.org/wiki/Forge_(band))'],
    ['odd', 'https://example.com/a)', 'odd (https://example.com/a%29)'],
    ['odd', 'https://example.com/a b"c', 'odd (https://example.com/a%20b%22c)'],
    ['Anna', 'mailto:anna@example.com?subject=Hi', 'Anna (anna@example.com)'],
    ['anna@example.com', 'mailto:anna@example.com', 'anna@example.com'],
    ['click', 'javascript:alert(1)', 'click'],
    ['click', ' javascript:alert(1)', 'click'],
    ['image', 'data:image/png;base64,AAAA', 'image'],
    ['disk', 'file:///C:/x', 'disk'],
    ['section', '#section', 'section'],
    ['page', '/page', 'page'],
    ['¶', 'https://example.com/#title', '¶'],
    ['', 'https://example.com/', ''],
    ['huge', `https://example.com/${'x'.repeat(3_000)}`, 'huge'],
  ])('%j to %j becomes %j', (words, href, text) => {
    expect(pasted(words, href)).toBe(text);
  });

  test('what is kept of it is found as a link again', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (href) => {
        const { after, instead } = addressOfLink('words', href);
        expect(instead).toBeNull();
        if (after === null) return;
        expect(found(`words${after}.`)).toEqual([after.slice(2, -1)]);
      }),
      { numRuns: fuzzBudget(300) },
    );
  });
});
