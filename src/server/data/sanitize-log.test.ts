import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import sanitizeHtml from 'sanitize-html';
import { describe, expect, test } from 'vitest';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import { createConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';
import { ENTRY_TAGS, isCleanLog } from '#domain/log/entry-html.ts';
import { unicodeText } from '../../../tests/support/unicode-text.ts';
import { sanitizeLog, createLogSanitizer } from './sanitize-log.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';

const HEADER = '<h2 class="date-header">Saturday - November 21, 2026</h2>';

/** Lists every element with its attributes, as an HTML parser sees them. */
function elementsIn(html: string): string[] {
  const found: string[] = [];
  sanitizeHtml(html, {
    allowedTags: false,
    allowedAttributes: false,
    allowVulnerableTags: true,
    onOpenTag: (name, attributes) => {
      found.push([name, ...Object.entries(attributes).map(([key, value]) => `${key}=${value}`)].join(' '));
    },
  });
  return found;
}

const ALLOWED = new Set<string>(ENTRY_TAGS);
const isAllowed = (element: string): boolean => ALLOWED.has(element) || /^ol start=-?\d{1,7}$/.test(element);

/** Mixes allowed markup with complete and broken pieces of attacks. */
const hostileHtml = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...ENTRY_TAGS.flatMap((tag) => [`<${tag}>`, `</${tag}>`])) },
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          '<script>',
          '</script>',
          '<style>',
          '</style>',
          '<svg>',
          '<math>',
          '<template>',
          '<noscript>',
          '</noscript>',
          '<iframe>',
          '</iframe>',
          '<textarea>',
          '</textarea>',
          '<title>',
          '</title>',
          '<xmp>',
          '</xmp>',
          '<plaintext>',
          '<img src=x onerror=alert(1)>',
          '<a href="javascript:alert(1)">',
          '</a>',
          '<p onclick="x">',
          '<ol start="3">',
          '<ol start="x">',
          '<h2 class="date-header">',
          '<h2 class="x">',
          '<br/>',
          '</br>',
          '<!--',
          '-->',
          '<![CDATA[',
          ']]>',
          '<?',
          '?>',
          '<!',
          '<',
          '>',
          '</',
          '/>',
          '&',
          '&lt;',
          '&amp;lt;',
          '&nbsp;',
          '&#60;',
          '&#0;',
          '&copy',
          '"',
          "'",
          '=',
          '\0',
          '\u0007',
          '\uD800',
          ' ',
          '\n',
          '\u00A0',
          '<P>',
          '<p',
          '<custom-tag>',
          '<__proto__>',
        ),
      },
      { weight: 2, arbitrary: unicodeText({ maxLength: 6 }) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('a sanitized log', () => {
  test.each([
    ['keeps clean content unchanged', '<p>Shipped <strong>it</strong></p>', '<p>Shipped <strong>it</strong></p>'],
    ['loses its date header', `${HEADER}<p>x</p>`, '<p>x</p>'],
    [
      'loses a date header in the spelling of other clients',
      '\n<H2 id=1 class="date-header big">Sat</H2><p>x</p>',
      '<p>x</p>',
    ],
    ['keeps a second header as a heading', `${HEADER}${HEADER}`, '<h2>Saturday - November 21, 2026</h2>'],
    ['keeps a later header as a heading', `<p>x</p><h2 class="date-header">y</h2>`, '<p>x</p><h2>y</h2>'],
    ['loses scripts with their content', '<p>a</p><script>alert(1)</script><style>p{}</style>', '<p>a</p>'],
    ['loses handlers', '<p onclick="alert(1)" style="color:red">a</p>', '<p>a</p>'],
    ['keeps the text of a link', '<p><a href="javascript:alert(1)">docs</a></p>', '<p>docs</p>'],
    ['keeps the text of other elements', '<div>a <b>b</b> <span>c</span></div>', 'a b c'],
    ['keeps the text of a form field', '<textarea><b>x</b></textarea>', '&lt;b&gt;x&lt;/b&gt;'],
    ['loses images', '<p>a<img src=x onerror=alert(1)>b</p>', '<p>ab</p>'],
    ['loses comments', '<p>a<!-- secret -->b</p>', '<p>ab</p>'],
    ['keeps the start number of a list', '<ol start=7 type=a><li>x</li></ol>', '<ol start="7"><li>x</li></ol>'],
    ['loses a start that is not a number', '<ol start="7em"><li>x</li></ol>', '<ol><li>x</li></ol>'],
    ['writes breaks as the editor does', '<p>a<br/>b<BR >c</p>', '<p>a<br>b<br>c</p>'],
    ['escapes characters outside tags', 'a < b > c & d', 'a &lt; b &gt; c &amp; d'],
    ['keeps character references unchanged', '<p>&nbsp;&copy;&#39;\u00A0</p><b></b>', '<p>&nbsp;&copy;&#39;\u00A0</p>'],
    ['closes open elements', '<p><strong>x', '<p><strong>x</strong></p>'],
    ['loses null bytes', '<p>a\0b</p>', '<p>ab</p>'],
    [
      'loses controls, but no tab or line end',
      '<p>a\u0007\u001Bb\u000B\u000C\u007F\u0080\u0085\u009F\tc\nd</p>',
      '<p>ab\tc\nd</p>',
    ],
    ['replaces lone surrogates', '<p>a\uD800b</p>', '<p>a\uFFFDb</p>'],
    [
      'keeps every other character',
      '<P>שלום e\u0301 👩‍👩‍👧 \u202E\uFEFF\u200B</P>',
      '<p>שלום e\u0301 👩‍👩‍👧 \u202E\uFEFF\u200B</p>',
    ],
  ])('%s', (_rule, sent, stored) => {
    expect(sanitizeLog(sent)).toBe(stored);
  });

  test('contains only allow-listed elements and attributes, and sanitizing is idempotent', () => {
    fc.assert(
      fc.property(hostileHtml, (sent) => {
        const stored = sanitizeLog(sent);
        expect(elementsIn(stored).filter((element) => !isAllowed(element))).toEqual([]);
        // oxlint-disable-next-line no-control-regex
        expect(/[\0-\x08\v\f\x0E-\x1F\x7F-\x9F]/.test(stored) || !stored.isWellFormed()).toBe(false);
        expect(sanitizeLog(stored)).toBe(stored);
      }),
      { numRuns: fuzzBudget(4_000) },
    );
  });

  test('is what the parser would produce when the quick check accepts it', () => {
    let accepted = 0;
    const almostClean = fc
      .array(
        fc.constantFrom(
          'p',
          'ol',
          'ul',
          'li',
          'strong',
          'pre',
          'code',
          'h2',
          'blockquote',
          'br',
          '&amp;',
          '&nbsp;',
          'a',
          '\n',
        ),
        { maxLength: 7 },
      )
      .map((tags) =>
        tags.reduceRight(
          (inner, tag) =>
            /^(?:br|&.*|a|\n)$/.test(tag) ? (tag === 'br' ? '<br>' : tag) + inner : `<${tag}>${inner}</${tag}>`,
          '',
        ),
      );
    fc.assert(
      fc.property(fc.oneof(almostClean, hostileHtml), (html) => {
        if (!isCleanLog(html)) return;
        accepted += 1;
        const quick = sanitizeLog(html);
        // A tag that is not allowed forces the same log through the parser, which then drops the tag.
        const parsed = sanitizeLog(`${html}<I>`);
        expect(parsed).toBe(quick);
      }),
      { numRuns: fuzzBudget(6_000) },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});

describe('the limits of a log', () => {
  test('accept 256 KB of UTF-8 and reject one byte more', () => {
    expect(sanitizeLog('a'.repeat(ENTRY_MAX_BYTES))).toHaveLength(ENTRY_MAX_BYTES);
    expect(() => sanitizeLog('a'.repeat(ENTRY_MAX_BYTES + 1))).toThrow(/256 KB at most/);
    expect(() => sanitizeLog('é'.repeat(ENTRY_MAX_BYTES / 2 + 1))).toThrow(expect.objectContaining({ status: 413 }));
  });
  test('reject a log that exceeds the size after escaping', () => {
    expect(() => sanitizeLog('<'.repeat(ENTRY_MAX_BYTES))).toThrow(expect.objectContaining({ code: '54000' }));
  });
  test('accept 10,000 list items, with and without the parser', () => {
    const items = '<li><p>item</p></li>'.repeat(10_000);
    expect(sanitizeLog(`<ol>${items}</ol>`)).toBe(`<ol>${items}</ol>`);
    expect(sanitizeLog(`<OL>${items}</OL>`)).toBe(`<ol>${items}</ol>`);
  });
  test('unwrap nesting beyond the maximum depth and reject extreme nesting', () => {
    expect(sanitizeLog('<blockquote>'.repeat(150) + 'x')).toBe(
      '<blockquote>'.repeat(100) + 'x' + '</blockquote>'.repeat(100),
    );
    expect(() => sanitizeLog('<b>'.repeat(513))).toThrow(expect.objectContaining({ code: '54001', status: 400 }));
    expect(sanitizeLog('<b>'.repeat(512))).toBe('');
  });
  test.each(['<b>', '<P></P>', '<', '<!---->'])('are rejected with more than 30,000 of %s', (tag) => {
    const message = 'A log can hold 30000 HTML tags at most. Please shorten it';
    expect(() => sanitizeLog(tag.repeat(30_001))).toThrow(expect.objectContaining({ code: '54000', message }));
  });
});

describe('the log sanitizer of all requests', () => {
  const ONE_AT_A_TIME = { maxRunning: 1, maxQueued: 10 };

  test('yields to the event loop between two logs that need the parser, and does not delay a clean one', async () => {
    const yields: (() => void)[] = [];
    const sanitize = createLogSanitizer(
      createConcurrencyLimiter(ONE_AT_A_TIME),
      () => new Promise<void>((resolve) => yields.push(resolve)),
    );
    const [first, second] = [sanitize('<b>one</b>'), sanitize('<b>two</b>')];
    expect(await first).toBe('one');
    expect(await Promise.race([second, setImmediate('waits')])).toBe('waits');
    expect(sanitize('<p>clean</p>')).toBe('<p>clean</p>');
    yields[0]!();
    expect(await second).toBe('two');
  });

  test('yields to the event loop between two passes over one log', async () => {
    const yields: (() => void)[] = [];
    const sanitize = createLogSanitizer(
      createConcurrencyLimiter(ONE_AT_A_TIME),
      () => new Promise<void>((resolve) => yields.push(resolve)),
    );
    // A list item without its list is not clean after one pass.
    const sanitized = sanitize('<svg><li>one');
    expect(await Promise.race([sanitized, setImmediate('waits')])).toBe('waits');
    yields[0]!();
    expect(await sanitized).toBe(sanitizeLog('<svg><li>one'));
  });

  test('continues with the next log after a rejected one', async () => {
    const sanitize = createLogSanitizer(createConcurrencyLimiter(ONE_AT_A_TIME));
    const rejected = sanitize('<b>'.repeat(6_000));
    const next = sanitize('<b>next</b>');
    await expect(rejected).rejects.toMatchObject({ code: '54001' });
    expect(await next).toBe('next');
    expect(() => sanitize('x'.repeat(ENTRY_MAX_BYTES + 1))).toThrow(expect.objectContaining({ code: '54000' }));
  });
});
