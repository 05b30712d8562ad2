/** The laws of the Markdown export: a log comes back whole, also after Prettier reformatted the file. */
import fc from 'fast-check';
import { format } from 'prettier';
import { describe, expect, test } from 'vitest';
import { anyLogs, editorLogs } from '../../../tests/support/log-arbitraries.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { writeMarkdown } from './write-markdown.ts';

const isLong = process.env['TEST_LONG'] !== undefined;
const LONG_TIMEOUT_MS = 1_800_000;
const limits = isLong ? { timeout: LONG_TIMEOUT_MS } : {};

const read = (markdown: string): string => parseMarkdown(markdown, { softBreaks: 'join', topHeading: 2 });
/** Prettier removes blanks at the ends of lines, also in code, where Markdown has no escape for them. */
const withoutCodeEnds = (log: string): string =>
  log.replace(/<pre>.*?<\/pre>/gs, (code) => code.replace(/[ \t]+(?=\n|<)/g, ''));

/** With the no-break spaces that `entryText` reads as plain ones. */
const shownText = (html: string): string => entryText(html.replaceAll('&nbsp;', '\u00A0'));

describe('a log', () => {
  test.each([
    ['of the editor', editorLogs],
    ['of another client', anyLogs],
  ])('%s comes back from Markdown with identical text', limits, (_whose, logs) => {
    fc.assert(
      fc.property(logs, (log) => {
        const back = read(writeMarkdown(log));
        expect(isCleanLog(back), back).toBe(true);
        expect(entryText(back)).toBe(entryText(log));
        expect(shownText(back)).toBe(shownText(log));
      }),
      { numRuns: isLong ? 100_000 : 1_000 },
    );
  });

  test('takes linear time to write', () => {
    // Quadratic time would exceed the test's timeout.
    for (const part of [
      '<strong>a</strong>a',
      '<s>a</s>*',
      '<em>a<u> </u></em>',
      '\\',
      '_',
      ' ',
      '&nbsp;',
      '&lt;',
      '`',
      '<br>',
      '@<br>',
    ])
      writeMarkdown(`<p>${part.repeat(60_000)}</p>`);
    writeMarkdown(`<pre><code>${'```a'.repeat(60_000)}</code></pre>`);
    for (const part of ['<li><p>a</p></li>', '<li></li>']) writeMarkdown(`<ol>${part.repeat(20_000)}</ol>`);
  });
});

describe('Prettier', () => {
  test.each([
    '<p><code><strong>1. one&nbsp;</strong></code><code><strong> leading</strong></code></p>',
    '<p>one <code><em>two </em></code><code><em> three</em></code> four</p>',
  ])('leaves several spaces as they are, also where a mark begins between them: %s', async (log) => {
    const reformatted = await format(writeMarkdown(log), { parser: 'markdown', proseWrap: 'never' });
    expect(entryText(read(reformatted))).toBe(entryText(log));
  });

  test.each(['=', '==', '--', '---', `= ${'w'.repeat(80)}`, `-- w<u>${'w'.repeat(80)}</u>`])(
    'makes no heading of a line before %s',
    async (sign) => {
      const log = `<p>${'a '.repeat(39)}a ${sign}</p>`;
      const reformatted = await format(writeMarkdown(log), { parser: 'markdown', proseWrap: 'always' });
      expect(read(reformatted)).toBe(log);
    },
  );

  /** A line of such signs alone is the underline of a heading. */
  const underlines = fc
    .array(fc.constantFrom('=', ' = ', ' == ', ' -- ', ' --- ', ' ', '<u>a</u>', 'word', 'w'.repeat(70)), {
      maxLength: 40,
    })
    .map((parts) => `<p>${parts.join('')}</p>`);
  const addresses = fc
    .array(
      fc.constantFrom(
        'https://a.example/b_c',
        '(https://a.example)',
        'a@b.example',
        '<br>',
        ' ',
        'word',
        '&lt;1@b.example&gt;',
      ),
      { maxLength: 30 },
    )
    .map((parts) => `<p>${parts.join('')}</p>`);
  const wide = fc
    .array(
      fc.constantFrom('日本語', 'のテキスト', '。', '中文', 'word', ' ', '（', '）', '한국어', '1. ', '- ', '=', '--'),
      { maxLength: 80 },
    )
    .map((parts) => `<p>${parts.join('')}</p>`);

  test.each(['preserve', 'always', 'never'] as const)(
    'with proseWrap: %s leaves a log as it is',
    limits,
    async (proseWrap) => {
      await fc.assert(
        fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: editorLogs }, wide, addresses, underlines), async (log) => {
          const exported = writeMarkdown(log);
          const reformatted = await format(exported, { parser: 'markdown', proseWrap });
          expect(withoutCodeEnds(read(reformatted)), reformatted).toBe(withoutCodeEnds(read(exported)));
        }),
        { numRuns: isLong ? 34_000 : 200 },
      );
    },
  );
});
