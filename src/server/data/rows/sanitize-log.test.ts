import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import sanitizeHtml from 'sanitize-html';
import { describe, expect, test } from 'vitest';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import { ENTRY_TAGS, isCleanLog } from '#domain/log/entry-html.ts';
import { sanitizeLog, createLogSanitizer } from './sanitize-log.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';

const HEADER = '<h2 class="date-header">Saturday - November 21, 2026</h2>';

/** Every element with its attributes, as a parser of HTML finds them. */
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

/** Mixes what is allowed with what attacks are made of, whole and broken. */
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
      { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('cleaning a log', () => {
  test.each([
    ['stays as it is', '<p>Shipped <strong>it</strong></p>', '<p>Shipped <strong>it</strong></p>'],
    ['gives up its date header', `${HEADER}<p>x</p>`, '<p>x</p>'],
    ['gives up a header that other clients wrote', '\n<H2 id=1 class="date-header big">Sat</H2><p>x</p>', '<p>x</p>'],
    ['keeps a second header as a heading', `${HEADER}${HEADER}`, '<h2>Saturday - November 21, 2026</h2>'],
    ['keeps a later header as a heading', `<p>x</p><h2 class="date-header">y</h2>`, '<p>x</p><h2>y</h2>'],
    ['loses scripts with their content', '<p>a</p><script>alert(1)</script><style>p{}</style>', '<p>a</p>'],
    ['loses handlers', '<p onclick="alert(1)" style="color:red">a</p>', '<p>a</p>'],
    ['keeps the words of a link', '<p><a href="javascript:alert(1)">docs</a></p>', '<p>docs</p>'],
    ['keeps the words of other elements', '<div>a <b>b</b> <span>c</span></div>', 'a b c'],
    ['keeps the words of a form field', '<textarea><b>x</b></textarea>', '&lt;b&gt;x&lt;/b&gt;'],
    ['loses images', '<p>a<img src=x onerror=alert(1)>b</p>', '<p>ab</p>'],
    ['loses comments', '<p>a<!-- secret -->b</p>', '<p>ab</p>'],
    ['keeps the number a list starts with', '<ol start=7 type=a><li>x</li></ol>', '<ol start="7"><li>x</li></ol>'],
    ['loses a start that is no number', '<ol start="7em"><li>x</li></ol>', '<ol><li>x</li></ol>'],
    ['writes breaks as the editor does', '<p>a<br/>b<BR >c</p>', '<p>a<br>b<br>c</p>'],
    ['escapes what is no tag', 'a < b > c & d', 'a &lt; b &gt; c &amp; d'],
    ['keeps references as they were sent', '<p>&nbsp;&copy;&#39;\u00A0</p><b></b>', '<p>&nbsp;&copy;&#39;\u00A0</p>'],
    ['closes what was left open', '<p><strong>x', '<p><strong>x</strong></p>'],
    ['loses null bytes', '<p>a\0b</p>', '<p>ab</p>'],
    ['has lone surrogates replaced', '<p>a\uD800b</p>', '<p>a\uFFFDb</p>'],
    [
      'keeps every other character',
      '<P>שלום e\u0301 👩‍👩‍👧 \u202E\uFEFF\u200B\u0007</P>',
      '<p>שלום e\u0301 👩‍👩‍👧 \u202E\uFEFF\u200B\u0007</p>',
    ],
  ])('%s', (_rule, sent, stored) => {
    expect(sanitizeLog(sent)).toBe(stored);
  });

  test('leaves no element or attribute but those of the list, and is clean the second time', () => {
    fc.assert(
      fc.property(hostileHtml, (sent) => {
        const stored = sanitizeLog(sent);
        expect(elementsIn(stored).filter((element) => !isAllowed(element))).toEqual([]);
        expect(stored.includes('\0') || !stored.isWellFormed()).toBe(false);
        expect(sanitizeLog(stored)).toBe(stored);
      }),
      { numRuns: fuzzBudget(4_000) },
    );
  });

  test('what the quick check accepts, the parser would not have changed', () => {
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
        // A capital letter sends the same log through the parser.
        const parsed = sanitizeLog(`${html}<I>`);
        expect(parsed).toBe(quick);
      }),
      { numRuns: fuzzBudget(6_000) },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});

describe('the size of a log', () => {
  test('256 KB is taken and one byte more is refused, counted in UTF-8', () => {
    expect(sanitizeLog('a'.repeat(ENTRY_MAX_BYTES))).toHaveLength(ENTRY_MAX_BYTES);
    expect(() => sanitizeLog('a'.repeat(ENTRY_MAX_BYTES + 1))).toThrow(/256 KB at most/);
    expect(() => sanitizeLog('é'.repeat(ENTRY_MAX_BYTES / 2 + 1))).toThrow(expect.objectContaining({ status: 413 }));
  });
  test('what grows over the limit when it is escaped is refused too', () => {
    expect(() => sanitizeLog('<'.repeat(ENTRY_MAX_BYTES))).toThrow(expect.objectContaining({ code: '54000' }));
  });
  test('10,000 list items are stored, also when they need the parser', () => {
    const items = '<li><p>item</p></li>'.repeat(10_000);
    expect(sanitizeLog(`<ol>${items}</ol>`)).toBe(`<ol>${items}</ol>`);
    expect(sanitizeLog(`<OL>${items}</OL>`)).toBe(`<ol>${items}</ol>`);
  });
  test('nesting is unwrapped beyond what browsers can show and refused where it is an attack', () => {
    expect(sanitizeLog('<blockquote>'.repeat(150) + 'x')).toBe(
      '<blockquote>'.repeat(100) + 'x' + '</blockquote>'.repeat(100),
    );
    expect(() => sanitizeLog('<b>'.repeat(60_000))).toThrow(expect.objectContaining({ code: '54001', status: 400 }));
  });
});

describe('the logs of many requests', () => {
  test('between two that need the parser everybody else is answered, and a clean one waits for neither', async () => {
    const othersAnswered: (() => void)[] = [];
    const clean = createLogSanitizer(() => new Promise<void>((resolve) => othersAnswered.push(resolve)));
    const [first, second] = [clean('<b>one</b>'), clean('<b>two</b>')];
    expect(await first).toBe('one');
    expect(await Promise.race([second, setImmediate('waits')])).toBe('waits');
    expect(clean('<p>clean</p>')).toBe('<p>clean</p>');
    othersAnswered[0]!();
    expect(await second).toBe('two');
  });

  test('one that is refused holds up nobody', async () => {
    const clean = createLogSanitizer();
    const refused = clean('<b>'.repeat(60_000));
    const next = clean('<b>next</b>');
    await expect(refused).rejects.toMatchObject({ code: '54001' });
    expect(await next).toBe('next');
    expect(() => clean('x'.repeat(ENTRY_MAX_BYTES + 1))).toThrow(expect.objectContaining({ code: '54000' }));
  });
});
