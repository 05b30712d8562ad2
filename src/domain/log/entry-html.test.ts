import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { ENTRY_MAX_DEPTH, ENTRY_TAGS, isCleanLog, withDateHeader, withoutDateHeader } from './entry-html.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';

const HEADER = '<h2 class="date-header">Saturday - November 21, 2026</h2>';

const nestedQuotes = (depth: number) => '<blockquote>'.repeat(depth) + '</blockquote>'.repeat(depth);

describe('the date header', () => {
  test('is prepended to the stored log', () => {
    expect(withDateHeader(day('2026-11-21'), '<p>Shipped</p>')).toBe(`${HEADER}<p>Shipped</p>`);
  });
  test('is removed once for display', () => {
    expect(withoutDateHeader(`${HEADER}<p>Shipped</p>`)).toBe('<p>Shipped</p>');
    expect(withoutDateHeader(HEADER)).toBe('');
    expect(withoutDateHeader(`${HEADER}${HEADER}`)).toBe(HEADER);
  });
  test.each(['', '<p>No header</p>', '<h2>A heading of mine</h2>', `<p>first</p>${HEADER}`])(
    'content without it is unchanged: %j',
    (content) => {
      expect(withoutDateHeader(content)).toBe(content);
    },
  );
  test('is removed again from any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (body) => {
        expect(withoutDateHeader(withDateHeader(day('2026-11-21'), body))).toBe(body);
      }),
    );
  });
});

describe('isCleanLog', () => {
  test.each([
    '',
    'plain words',
    '<p></p>',
    '<p>One &amp; two &lt;three&gt;&nbsp;&quot;four&#39;</p>',
    '<p>a<br>b</p>',
    '<ol><li><p>first</p></li><li><p>second</p><ul><li><p>nested</p></li></ul></li></ol>',
    '<ol start="12"><li><p>twelfth</p></li></ol>',
    '<ol start="-3"><li>x</li></ol>',
    '<h1>A</h1><h2>B</h2><h3>C</h3><blockquote><p><strong><em><u><s>x</s></u></em></strong></p></blockquote>',
    '<pre><code>let x = 1;\n  y</code></pre>',
    '<ul>\n  <li>by hand</li>\n</ul>',
    `${HEADER}<p>x</p>`,
    HEADER,
    '<p>עברית e\u0301 👩‍👩‍👧\u202E\u00A0</p>',
  ])('accepts %j', (html) => {
    expect(isCleanLog(html)).toBe(true);
  });

  test.each([
    '<',
    '>',
    'a > b',
    'a & b',
    '&copy;',
    '&amp',
    '&#0;',
    '<p>',
    '</p>',
    '<p></h1>',
    '<strong><em></strong></em>',
    '<P></P>',
    '<p ></p>',
    '<p class="x"></p>',
    '<p onclick="x"></p>',
    '<br/>',
    '<br />',
    '<p><p></p></p>',
    '<p><ul><li>x</li></ul></p>',
    '<ul><p>x</p></ul>',
    '<ul><br></ul>',
    '<li>bare</li>',
    '<li><li>x</li></li>',
    '<strong><p>x</p></strong>',
    '<ol start="1.5"><li>x</li></ol>',
    '<ol start="99999999"><li>x</li></ol>',
    '<ol start=1><li>x</li></ol>',
    '<ul start="1"><li>x</li></ul>',
    '<script>alert(1)</script>',
    '<a href="javascript:alert(1)">x</a>',
    '<img src=x onerror=alert(1)>',
    '<!-- x -->',
    '<!doctype html>',
    '<p>\0</p>',
    '<p>\uD800</p>',
    ` ${HEADER}`,
    `<p>x</p>${HEADER}`,
    `${HEADER}${HEADER}`,
    '<h2 class="date-header"><em>x</em></h2>',
    '<h2 class="date-header other">x</h2>',
    '<constructor></constructor>',
    '<__proto__></__proto__>',
  ])('rejects %j', (html) => {
    expect(isCleanLog(html)).toBe(false);
  });

  test('limits the nesting depth', () => {
    expect(isCleanLog(nestedQuotes(ENTRY_MAX_DEPTH))).toBe(true);
    expect(isCleanLog(nestedQuotes(ENTRY_MAX_DEPTH + 1))).toBe(false);
  });

  test('accepts only literal tags of the allowlist', () => {
    const pieces = [
      ...ENTRY_TAGS.flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
      '<',
      '>',
      '&',
      'x',
      '<b>',
      '<p id=x>',
      '"',
      ';',
    ];
    const literal = new Set(ENTRY_TAGS.flatMap((tag) => [`<${tag}>`, `</${tag}>`]));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const html = parts.join('');
        if (!isCleanLog(html)) return;
        for (const tag of html.match(/<[^>]*>?/g) ?? []) expect(literal).toContain(tag);
      }),
      { numRuns: fuzzBudget(5_000) },
    );
  });

  test('takes linear time on 256 KB of adversarial input', () => {
    for (const html of ['<'.repeat(262_144), '&'.repeat(262_144), '<p>'.repeat(87_000), '&amp;'.repeat(52_000)]) {
      // Quadratic time would exceed the test's timeout.
      expect(isCleanLog(html)).toBe(html.startsWith('&amp;'));
    }
  });
});
