import { describe, expect, test } from 'vitest';
import { entryText, isEmptyLog } from './entry-text.ts';

/** tests/policies/entry-text.test.ts compares the SQL function `public.entry_text` with `entryText`. */
describe('entryText', () => {
  test.each([
    ['', ''],
    ['<p>Did nothing today</p>', 'Did nothing today'],
    ['<h2 class="date-header">Saturday - November 21, 2026</h2><p>Shipped</p>', 'Shipped'],
    ['<h2>My heading</h2><p>Shipped</p>', 'My heading\nShipped'],
    ['<ol><li><p>one</p></li><li><p>two</p></li></ol><p>end</p>', 'one\ntwo\nend'],
    ['<ul><li>a<ul><li>b</li></ul></li></ul>', 'ab'],
    ['<p>a<br>b</p>', 'a\nb'],
    ['<p><strong>bo</strong>ld <em>and</em> <u>so</u> on</p>', 'bold and so on'],
    ['<p>1 &lt; 2 &amp;&amp; 3 &gt; 2, &quot;it&#39;s&quot;&nbsp;so</p>', `1 < 2 && 3 > 2, "it's" so`],
    ['<p>&amp;lt; stays written as it is</p>', '&lt; stays written as it is'],
    ['<pre><code>if (x) {\n  y();\n}</code></pre>', 'if (x) {\n  y();\n}'],
    ['<p>a</p><p></p><p></p><p>b</p>', 'a\nb'],
    ['<p>a\r\n\r\nb</p>', 'a\nb'],
    ['<p>  padded </p>', 'padded'],
    ['<p>שלום e\u0301 👩‍👩‍👧</p>', 'שלום e\u0301 👩‍👩‍👧'],
    ['no tags at all', 'no tags at all'],
  ])('converts %j to %j', (html, text) => {
    expect(entryText(html)).toBe(text);
  });

  test('takes linear time on adversarial input', () => {
    for (const html of ['<'.repeat(262_144), ' '.repeat(262_144) + 'x', '<p>'.repeat(87_000), '\n \n'.repeat(80_000)]) {
      // Quadratic time would exceed the test's timeout.
      expect(entryText(html).length).toBeLessThanOrEqual(html.length);
    }
  });
});

describe('isEmptyLog', () => {
  test.each([
    '',
    '<p></p>',
    '<ol><li><p></p></li></ol>',
    '<p>&nbsp;\u00A0 </p>',
    '<br>',
    '<h2 class="date-header">Saturday</h2><p> </p>',
  ])('is true for %j', (html) => expect(isEmptyLog(html)).toBe(true));
  test.each(['<p>x</p>', '<p>&amp;</p>', '.'])('is false for %j', (html) => expect(isEmptyLog(html)).toBe(false));
});
