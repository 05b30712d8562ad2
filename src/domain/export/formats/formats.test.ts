import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day, type Day } from '#domain/day/day.ts';
import { isCleanLog, withDateHeader, withoutDateHeader } from '#domain/log/entry-html.ts';
import { entryText } from '#domain/log/entry-text.ts';
import { textToLog } from '#domain/log/text-to-log.ts';
import { anyLogs, days, editorLogs } from '../../../../tests/support/log-arbitraries.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import type { ExportedEntry, FormatWriter, ParsedDay } from '../../exported-entry.ts';
import { htmlWriter } from './html-format.ts';
import { jsonEntriesOf, jsonFormatOf, jsonWriter, readJson, readJsonEntry } from './json-format.ts';
import { dayFormatOf, readDays, readMarkdown } from '../../journals/own-export.ts';
import { markdownWriter } from '../../markdown/write-markdown.ts';
import { readText, textWriter } from './text-format.ts';

const NO_COACH = { hustleScore: null, feedback: null, analyzedAt: null };
const entryOf = (date: Day, html: string): ExportedEntry => ({
  date,
  content: withDateHeader(date, html),
  ...NO_COACH,
});

function write(writer: FormatWriter, entries: readonly ExportedEntry[]): string {
  return writer.begin() + entries.map((entry, index) => writer.entry(entry, index)).join('') + writer.end();
}

const contentOf = (read: ParsedDay | undefined): string =>
  read?.kind === 'day' ? read.day.content : `(${read?.kind})`;

const DATE = day('2026-11-21');
const LABEL = 'Saturday - November 21, 2026';
const RULE = '-'.repeat(LABEL.length);

test.each(['Launch\n  Design\n    Mockups\n  Build', 'a\n\tb\n\t\tc\n\nservices:\n  web:\n    image: nginx'])(
  'indentation comes back from plain text and Markdown: %j',
  (source) => {
    const { html } = textToLog(source);
    const [fromMarkdown] = readMarkdown(write(markdownWriter(), [entryOf(DATE, html)]));
    expect(contentOf(fromMarkdown)).toBe(html);
    const [fromText] = readText(write(textWriter(), [entryOf(DATE, html)]));
    expect(entryText(contentOf(fromText))).toBe(entryText(html));
  },
);

test.each(['<p>12&nbsp;000&nbsp;€</p>', '<p>a</p><ol><li><p>&nbsp;b&nbsp;</p></li></ol>', '<p>&nbsp;&nbsp;x: 1</p>'])(
  'no-break spaces are in plain text and Markdown, and come back: %j',
  (html) => {
    for (const writer of [textWriter(), markdownWriter()]) {
      const file = write(writer, [entryOf(DATE, html)]);
      expect(file.match(/\u00A0|&#160;/g)).toHaveLength(html.match(/&nbsp;/g)!.length);
      expect([...readDays(file)].map(contentOf)).toEqual([html]);
    }
  },
);

describe('plain text', () => {
  const written = (html: string): string => write(textWriter(), [entryOf(DATE, html)]);

  test('writes per day the label, dashes, the text and an empty line, oldest first', () => {
    const text = write(textWriter(), [
      entryOf(day('2026-11-20'), '<p>Said <strong>no</strong> to a meeting</p>'),
      entryOf(
        DATE,
        '<ol><li><p>Shipped</p></li><li><p>Paired</p><ol><li><p>on this</p><ul><li><p>and that</p></li></ul></li></ol></li></ol>',
      ),
    ]);
    expect(text).toBe(
      [
        'Friday - November 20, 2026',
        '--------------------------',
        'Said no to a meeting',
        '',
        LABEL,
        RULE,
        '1. Shipped',
        '2. Paired',
        '  1. on this',
        '    - and that',
        '',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['<ol start="9"><li><p>a</p></li><li><p>b</p><p>more</p></li></ol>', '9. a\n10. b\n  more'],
    ['<ol><li><p></p></li><li><p>b</p></li></ol>', '1.\n2. b'],
    ['<ol><li><ul><li><p>a</p></li></ul></li></ol>', '1.\n  - a'],
    ['<p></p><ol><li><p>a</p></li><li><p></p></li></ol><p></p>', '1. a'],
    ['<p>1. no item</p>', '\\1. no item'],
    ['<p> in</p><p>\\</p>', '\\ in\n\\\\'],
    [`<p>${LABEL}</p><p>---</p>`, `\\${LABEL}\n---`],
    ['<p>a</p><p></p><p>b</p>', 'a\n\nb'],
    ['<h1>Head</h1><blockquote><p>q</p></blockquote><pre><code>x\n  y</code></pre>', 'Head\nq\nx\n\\  y'],
  ])('writes %j as %j', (html, body) => {
    expect(written(html)).toBe(`${LABEL}\n${RULE}\n${body}\n\n`);
  });

  test.each([
    '<ol><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li></ol><p>e</p>',
    '<ol start="12"><li><p>a</p></li></ol><ol start="3"><li><p>b</p></li></ol>',
    '<p>1. no item</p><p>a</p><p></p><p>b</p>',
    '<ul><li><p>a</p><p></p><p>b</p></li></ul>',
  ])('reads back %j unchanged', (html) => {
    expect(contentOf([...readText(written(html))][0])).toBe(html);
  });

  test('reads a file with a BOM and CRLF line ends', () => {
    const text = `\uFEFF${written('<ol><li><p>a</p></li></ol>').replaceAll('\n', '\r\n')}`;
    expect(contentOf([...readText(text)][0])).toBe('<ol><li><p>a</p></li></ol>');
  });

  test('refuses a day that does not exist, and reads the others', () => {
    const text = `Monday - November 21, 2026\n-----\nx\n\nFriday - February 30, 2026\n-----\nx\n\n${written('<p>x</p>')}`;
    expect([...readText(text)].map((read) => (read.kind === 'day' ? read.day.date : read.reason))).toEqual([
      'invalidDate',
      'invalidDate',
      DATE,
    ]);
  });

  test('reads no day from other text', () => {
    for (const text of ['', 'hello', LABEL, `${RULE}\n${LABEL}`, '{"a":1}']) expect([...readText(text)]).toEqual([]);
  });
});

describe('Markdown', () => {
  const written = (html: string): string => write(markdownWriter(), [entryOf(DATE, html)]);
  const bodyOf = (html: string): string => written(html).slice(`# ${LABEL}\n\n`.length, -2);

  test.each([
    ['<p>a <strong>b</strong> <em>c</em> <s>d</s> <u>e</u> <code>f</code></p>', 'a **b** *c* ~~d~~ <u>e</u> `f`'],
    ['<p>a<br>b</p><p>c</p>', 'a\\\nb\n\nc'],
    [
      '<ol><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li></ol><p>e</p>',
      '1. a\n2. b\n   - c\n\n   d\n\ne',
    ],
    ['<h1>A</h1><h2>B</h2><h3>C</h3>', '## A\n\n### B\n\n#### C'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    ['<ol><li><p>x</p><pre><code>a\n\n  b`</code></pre></li></ol>', '1. x\n\n   ```\n   a\n\n     b`\n   ```'],
    ['<p># no heading</p><p>1. no item</p><p>- x</p>', '\\# no heading\n\n1\\. no item\n\n\\- x'],
    ['<p>2 * 3 &lt; 7 and snake_case, AT&amp;T</p>', '2 \\* 3 < 7 and snake_case, AT\\&T'],
    ['<ul><li><p>a</p></li></ul><ul><li><p>b</p></li></ul>', '- a\n\n<!-- -->\n\n- b'],
    ['<p><strong> a</strong></p>', '<strong>&#32;a</strong>'],
  ])('writes %j as %j and reads it back', (html, body) => {
    expect(bodyOf(html)).toBe(body);
    expect(contentOf([...readMarkdown(written(html))][0])).toBe(html);
  });

  test('ignores the heading of a day in a code block', () => {
    const html = `<pre><code># ${LABEL}\n\`\`\`</code></pre>`;
    expect([...readMarkdown(written(html))].map(contentOf)).toEqual([html]);
  });

  test('reads Markdown of other programs: other bullets, wider lists, wrapped paragraphs', () => {
    const text = `# ${LABEL}\n\n* a\n  wrapped\n+   b\n\n***\n\n1) c\n2) d\n`;
    expect(contentOf([...readMarkdown(text)][0])).toBe(
      '<ul><li><p>a wrapped</p></li></ul><ul><li><p>b</p></li></ul><ol><li><p>c</p></li><li><p>d</p></li></ol>',
    );
  });
});

describe('an export that another editor touched', () => {
  const exported = [
    entryOf(day('2026-11-20'), '<h1>A</h1><p>one two</p>'),
    entryOf(DATE, '<ol><li><p>b</p></li></ol>'),
  ];
  const exports = { text: write(textWriter(), exported), Markdown: write(markdownWriter(), exported) };
  const contents = {
    text: ['<p>A</p><p>one two</p>', '<ol><li><p>b</p></li></ol>'],
    Markdown: ['<h1>A</h1><p>one two</p>', '<ol><li><p>b</p></li></ol>'],
  };

  describe.each(['text', 'Markdown'] as const)('%s', (format) => {
    test.each<[string, (text: string) => string]>([
      ['a BOM and CRLF', (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`],
      ['CR', (text) => text.replaceAll('\n', '\r')],
      ['an en dash in headings', (text) => text.replaceAll(' - ', ' – ')],
      ['an em dash without blanks in headings', (text) => text.replaceAll(' - ', '—')],
      ['dashes of smart punctuation below headings', (text) => text.replace(/^-{3,}$/gm, '————————')],
      ['blanks behind headings', (text) => text.replace(/^.*day - .*$/gm, '$&  ')],
      ['no-break spaces in headings', (text) => text.replaceAll(/, (?=\d{4})/g, ',\u00A0')],
      ['words above the first day', (text) => `My journal\n\n${text}`],
    ])('comes back with %s', (_what, edit) => {
      expect([...readDays(edit(exports[format]))].map(contentOf)).toEqual(contents[format]);
    });
  });

  test.each<[string, (text: string) => string]>([
    ['wrapped lines', (text) => text.replace('one two', 'one\ntwo')],
    ['closing signs in headings', (text) => text.replace(/^#+ .*$/gm, '$& #')],
    ['underlined headings', (text) => text.replace(/^# (.*)$/gm, '$1\n====')],
    ['bold headings', (text) => text.replace(/^# (.*)$/gm, '# **$1**')],
    ['other bullets and numbers', (text) => text.replace('1. b', '7)  b').replace('7)', '1)')],
    ['an unclosed code block', (text) => text.replace('one two', 'one two\n\n```')],
  ])('Markdown comes back with %s', (_what, edit) => {
    const [first, second] = [...readDays(edit(exports.Markdown))].map(contentOf);
    expect(entryText(first!)).toBe('A\none two');
    expect(second).toBe('<ol><li><p>b</p></li></ol>');
  });

  test.each([
    LABEL,
    `# ${LABEL}`,
    `${LABEL} `,
    LABEL.replace('-', '—'),
    `# ${LABEL.replace('-', '–')}`,
    `# **${LABEL}**`,
    `## ${LABEL}`,
  ])('a log with the line %j comes back in one day', (line) => {
    const log = `<p>${line}</p><p>---</p><p>${line}</p><p>===</p><ul><li><p>${line}</p><p>${line}</p><p>---</p></li></ul>`;
    for (const writer of [textWriter(), markdownWriter()]) {
      const back = [...readDays(write(writer, [entryOf(DATE, log), entryOf(day('2026-11-22'), '<p>x</p>')]))];
      expect(back.map((read) => read.kind === 'day' && read.day.date)).toEqual([DATE, '2026-11-22']);
      expect(entryText(contentOf(back[0]))).toBe(entryText(log));
    }
  });

  test('the first day decides between text and Markdown', () => {
    // Before such lines were escaped, a log with the heading of the other format was read as that format.
    expect(dayFormatOf(`${LABEL}\n${RULE}\n# ${LABEL}\n\n`)).toBe('text');
    expect(dayFormatOf(`# ${LABEL}\n\n${LABEL}\n${RULE}\n`)).toBe('markdown');
    expect(dayFormatOf('# Monday\n\nx')).toBeNull();
    expect(contentOf([...readDays(`${LABEL}\n${RULE}\nx\n# ${LABEL}\ny\n`)][0])).toBe(
      `<p>x</p><p># ${LABEL}</p><p>y</p>`,
    );
  });
});

describe('HTML', () => {
  const page = (...entries: ExportedEntry[]): string => write(htmlWriter({ today: DATE }), entries);

  test('is a self-contained page with a language and a title, without scripts or external requests', () => {
    const html = page(entryOf(DATE, '<h1>A</h1><p>x</p>'));
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain('<title>Hustle Forge: all logs, November 21, 2026</title>');
    expect(html).toContain(`<h2><time datetime="2026-11-21">${LABEL}</time></h2>`);
    expect(html).toContain('<h3>A</h3><p>x</p>');
    expect(html).not.toMatch(/<script|<link|<img|url\(|https?:/);
  });

  test('links the addresses of a log, also across marks, and keeps the other text', () => {
    const html = page(
      entryOf(
        DATE,
        '<ol><li><p>see https://a.example/?x=1&amp;y=2, &quot;b&nbsp;c&quot;</p></li><li><p>https://a.<strong>example/b</strong></p><p>c@d.example</p></li></ol>',
      ),
    );
    const rel = 'rel="noopener noreferrer nofollow"';
    expect(html).toContain(
      `<li dir="auto"><p>see <a href="https://a.example/?x=1&amp;y=2" ${rel}>https://a.example/?x=1&amp;y=2</a>, "b&nbsp;c"</p></li>`,
    );
    expect(html).toContain(
      `<p><a href="https://a.example/b" ${rel}>https://a.</a><strong><a href="https://a.example/b" ${rel}>example/b</a></strong></p><p><a href="mailto:c@d.example" ${rel}>c@d.example</a></p>`,
    );
  });

  test('shows only the text of content that is not clean', () => {
    const html = page({ date: DATE, content: '<p onclick="x">a</p><script>alert(1)</script>', ...NO_COACH });
    expect(html).toContain('<p>a</p><p>alert(1)</p>');
    expect(html).not.toMatch(/<script|onclick/);
    expect(page({ ...entryOf(DATE, ''), hustleScore: 7, feedback: '<b>x' })).toContain('HustleScore: 7/10\n&lt;b&gt;x');
  });
});

describe('JSON', () => {
  const AT = new Date('2026-11-21T10:00:00.000Z');

  test('has the specified fields', () => {
    const full = { hustleScore: 7, feedback: 'Good "work"', analyzedAt: '2026-11-21T10:00:00.123456+00:00' };
    const entries = [entryOf(day('2026-11-20'), '<p>x</p>'), { ...entryOf(DATE, '<p>y</p>'), ...full }];
    const file: unknown = JSON.parse(write(jsonWriter({ exportedAt: AT }), entries));
    expect(file).toEqual({ format: 'hustle-forge/1', exportedAt: '2026-11-21T10:00:00.000Z', entries });
    expect(jsonFormatOf(file)).toBe('hustle-forge/1');
    expect([...readJson(jsonEntriesOf(file)!)]).toEqual([
      { kind: 'day', day: { date: '2026-11-20', content: '<p>x</p>', coach: null } },
      { kind: 'day', day: { date: DATE, content: '<p>y</p>', coach: full } },
    ]);
    expect(JSON.parse(write(jsonWriter({ exportedAt: AT }), []))).toMatchObject({ entries: [] });
  });

  test.each([
    [null, 'invalidDate'],
    [7, 'invalidDate'],
    [['2026-11-21'], 'invalidDate'],
    [{}, 'invalidDate'],
    [{ date: '2026-02-30', content: 'x' }, 'invalidDate'],
    [{ date: '0000-01-01', content: 'x' }, 'invalidDate'],
    [{ date: { toString: 'x' }, content: 'x' }, 'invalidDate'],
    [{ date: '2026-11-21' }, 'notText'],
    [{ date: '2026-11-21', content: 7 }, 'notText'],
    [{ date: '2026-11-21', content: 'x', hustleScore: 11 }, 'notText'],
    [{ date: '2026-11-21', content: 'x', hustleScore: '7' }, 'notText'],
    [{ date: '2026-11-21', content: 'x', hustleScore: 7.5 }, 'notText'],
    [{ date: '2026-11-21', content: 'x', feedback: {} }, 'notText'],
    [{ date: '2026-11-21', content: 'x', analyzedAt: 'yesterday' }, 'notText'],
    [{ date: '2026-11-21', content: 'x', analyzedAt: '2026-13-01T00:00:00Z' }, 'notText'],
    [{ date: '2026-11-21', content: 'x', analyzedAt: '2026-11-21' }, 'notText'],
  ])('refuses %j as %s', (entry, reason) => {
    expect(readJsonEntry(entry)).toMatchObject({ kind: 'refused', reason });
  });

  test.each(['x'.repeat(20_001), 'a\0b', 'lone surrogate: \ud83d'])(
    'refuses feedback that cannot be stored',
    (feedback) => {
      expect(readJsonEntry({ date: DATE, content: 'x', feedback })).toMatchObject({ reason: 'notText' });
    },
  );

  test('copies known fields only', () => {
    const entry: unknown = JSON.parse(
      '{"__proto__":{"date":"2026-11-21"},"constructor":1,"date":"2026-11-21","content":"x","user_id":"other","revision":9}',
    );
    expect(readJsonEntry(entry)).toEqual({ kind: 'day', day: { date: DATE, content: 'x', coach: null } });
    expect(readJsonEntry(JSON.parse('{"__proto__":{"date":"2026-11-21","content":"x"}}'))).toMatchObject({
      reason: 'invalidDate',
    });
    expect(({} as Record<string, unknown>)['date']).toBeUndefined();
  });

  test.each([null, 7, 'x', [], {}, { format: 'other/1' }, { format: 1 }])('%j is not an export', (file) => {
    expect(jsonFormatOf(file)).toBeNull();
  });
});

/** With the no-break spaces that `entryText` reads as plain ones. */
const shownText = (html: string): string => entryText(html.replaceAll('&nbsp;', '\u00A0'));

describe('for any log', () => {
  const FORMATS = {
    text: { writer: textWriter, read: readText },
    Markdown: { writer: markdownWriter, read: readMarkdown },
  };
  const LOGS = { 'logs of the editor': editorLogs, 'logs of other clients': anyLogs };

  const expectRoundTrip = (
    { writer, read }: (typeof FORMATS)['text'],
    dates: readonly Day[],
    logs: readonly string[],
  ): void => {
    const entries = dates.map((date, index) => entryOf(date, logs[index % logs.length]!));
    const back = [...read(write(writer(), entries))];
    expect(back.map((one) => one.kind === 'day' && one.day.date)).toEqual(dates);
    back.forEach((one, index) => {
      const html = contentOf(one);
      expect(isCleanLog(html), html).toBe(true);
      expect(entryText(html)).toBe(entryText(entries[index]!.content));
      expect(shownText(html)).toBe(shownText(entries[index]!.content));
    });
  };

  describe.each(Object.entries(FORMATS))('%s', (_name, format) => {
    test('returns a mark that begins where the one before it ended', () => {
      expectRoundTrip(format, [day('2026-11-21')], ['<p><s><em><strong>one</strong></em></s><strong>two</strong></p>']);
    });

    test.each(Object.entries(LOGS))('returns %s with identical text', (_logs, arbitrary) => {
      fc.assert(
        fc.property(days, fc.array(arbitrary, { minLength: 1, maxLength: 3 }), (dates, logs) => {
          expectRoundTrip(format, dates, logs);
        }),
        { numRuns: fuzzBudget(250) },
      );
    });

    test('takes linear time on adversarial input', () => {
      const hostile = [
        '<p>'.repeat(80_000),
        '*'.repeat(200_000),
        '`'.repeat(200_000),
        ' '.repeat(200_000),
        '> '.repeat(90_000),
      ];
      const links = ['[', '![', '![['].map((open) => open.repeat(20_000) + 'x' + '](https://a.b)'.repeat(20_000));
      for (const text of [
        ...hostile,
        ...links,
        `[](${' '.repeat(90_000)}b c`,
        '\\``'.repeat(60_000),
        '- '.repeat(90_000),
        '\\'.repeat(200_000),
        '`a'.repeat(90_000),
        '**a'.repeat(60_000),
      ]) {
        // Quadratic time would exceed the test's timeout.
        const file = `# ${LABEL}\n${LABEL}\n---\n${text}\n`;
        for (const read of format.read(file)) expect(contentOf(read)).toContain('<');
      }
    });
  });

  test('JSON returns every log unchanged', () => {
    fc.assert(
      fc.property(days, anyLogs, (dates, log) => {
        const entries = dates.map((date) => entryOf(date, log));
        const file: unknown = JSON.parse(write(jsonWriter({ exportedAt: new Date(0) }), entries));
        const back = [...readJson(jsonEntriesOf(file)!)].map((read) => read.kind === 'day' && read.day);
        expect(back).toEqual(
          entries.map(({ date, content }) => ({ date, content: withoutDateHeader(content), coach: null })),
        );
      }),
      { numRuns: fuzzBudget(150) },
    );
  });
});
