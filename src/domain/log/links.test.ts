import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unicodeText } from '../../../tests/support/unicode-text.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { findLinks, linkAsText, linkTexts } from './links.ts';

const found = (text: string): string[] => findLinks(text).map(({ from, to }) => text.slice(from, to));

describe('findLinks', () => {
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
  ])('finds in %j the address %j', (text, address) => {
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
  ])('finds no address in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('finds several addresses in one line', () => {
    expect(found('https://a.example/1 and https://b.example/2; c@d.example')).toEqual([
      'https://a.example/1',
      'https://b.example/2',
      'c@d.example',
    ]);
  });
});

describe('for any text', () => {
  const texts = fc.oneof(
    unicodeText({ maxLength: 80 }),
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

  test('links are in order, inside the text, without blanks, and web or mail addresses only', () => {
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

  test('linkTexts keeps the text and finds the same links in consecutive texts', () => {
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

  test('takes linear time on adversarial input', () => {
    // Quadratic time would exceed the test's timeout.
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
  const pasted = (label: string, href: string): string => {
    const { suffix, replacement } = linkAsText(label, href);
    return replacement ?? label + (suffix ?? '');
  };

  test.each([
    ['the report', 'https://example.com/r?a=1', 'the report (https://example.com/r?a=1)'],
    ['https://example.com/r', 'https://example.com/r', 'https://example.com/r'],
    ['https://example.com', 'https://example.com/', 'https://example.com'],
    ['example.com/r', 'https://www.example.com/r', 'https://www.example.com/r'],
    ['https://example.com/a-long-na…', 'https://example.com/a-long-name', 'https://example.com/a-long-name'],
    ['example.com/a-lo...', 'https://example.com/a-long-name', 'https://example.com/a-long-name'],
    ['Example.com', 'https://example.com/', 'Example.com (https://example.com/)'],
    ['www.example.com', 'https://example.com/', 'www.example.com (https://example.com/)'],
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
  ])('%j to %j becomes %j', (label, href, text) => {
    expect(pasted(label, href)).toBe(text);
  });

  test('findLinks finds the address that linkAsText keeps', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (href) => {
        const { suffix, replacement } = linkAsText('label', href);
        expect(replacement).toBeNull();
        if (suffix === null) return;
        expect(found(`label${suffix}.`)).toEqual([suffix.slice(2, -1)]);
      }),
      { numRuns: fuzzBudget(300) },
    );
  });
});
