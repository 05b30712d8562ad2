/** Tests the conversion of foreign Markdown to logs. */
import fc from 'fast-check';
import createMarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import { decodeReferences } from '../log/log-tokens.ts';
import { parseMarkdown, type MarkdownOptions } from './parse-markdown.ts';

const isLong = process.env['TEST_LONG'] !== undefined;
const paste = (text: string): string => parseMarkdown(text, { softBreaks: 'keep' });

test.each([' ', '\t'])('the indentation of a whole text, in %j, is shown up to a bound', (blank) => {
  const block = ['a: 1', ...Array.from({ length: 40 }, (_, line) => `${blank.repeat(40 + (line % 3))}b = 1;`)].join(
    '\n',
  );
  const text = Array.from({ length: 20 }, () => block).join('\n\n');
  expect(paste(block)).toContain('&nbsp;'.repeat(40));
  // Five thousand columns of `&nbsp;`, and the tags of a line.
  expect(paste(text).length).toBeLessThan(
    text.replaceAll(/[ \t]+/g, ' ').length + 6 * 5_000 + 12 * text.split('\n').length,
  );
});

describe('a pasted note', () => {
  test.each([
    ['# Monday', '<h1>Monday</h1>'],
    ['## Done\ntext', '<h2>Done</h2><p>text</p>'],
    ['# Done\n- a\n- b', '<h1>Done</h1><ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['#### Deep', '<h3>Deep</h3>'],
    ['**Fixed** the *login*', '<p><strong>Fixed</strong> the <em>login</em></p>'],
    ['a __b__ and _two words_', '<p>a <strong>b</strong> and <em>two words</em></p>'],
    [
      '**see** https://a.example/?q=*a*&r=_b c_, *https://b.example* and [d](https://a.example/e)',
      '<p><strong>see</strong> https://a.example/?q=*a*&amp;r=_b c_, <em>https://b.example</em> and d (https://a.example/e)</p>',
    ],
    ['***both***', '<p><em><strong>both</strong></em></p>'],
    ['**a *b* c** d', '<p><strong>a <em>b</em> c</strong> d</p>'],
    ['~~dropped~~ kept', '<p><s>dropped</s> kept</p>'],
    ['Renamed `old_name` to `new_name`', '<p>Renamed <code>old_name</code> to <code>new_name</code></p>'],
    ['**x** 2 * 3 * 4, snake_case, a*b', '<p><strong>x</strong> 2 * 3 * 4, snake_case, a*b</p>'],
    ['**unclosed and **closed**', '<p>**unclosed and <strong>closed</strong></p>'],
    ['\\*no\\* **yes**', '<p>*no* <strong>yes</strong></p>'],
    ['Run:\n\n```sh\n# not a heading\nnpm ci\n```', '<p>Run:</p><pre><code># not a heading\nnpm ci</code></pre>'],
    [
      '- Fixed `a`\n\t- nested **b**\n- c',
      '<ul><li><p>Fixed <code>a</code></p><ul><li><p>nested <strong>b</strong></p></li></ul></li><li><p>c</p></li></ul>',
    ],
    ['1. **a**\n  - b\n2. c', '<ol><li><p><strong>a</strong></p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ol>'],
    ['- [x] **a**\n- [ ] b', '<ul><li><p>[x] <strong>a</strong></p></li><li><p>[ ] b</p></li></ul>'],
    ['• **a**\n• b', '<ul><li><p><strong>a</strong></p></li><li><p>b</p></li></ul>'],
    ['**a**\nb\nc', '<p><strong>a</strong></p><p>b</p><p>c</p>'],
    [
      '**x**\n\nserver:\n  port: 80\n  tls:\n    on: yes',
      '<p><strong>x</strong></p><p>server:</p><p>&nbsp;&nbsp;port: 80</p><p>&nbsp;&nbsp;tls:</p><p>&nbsp;&nbsp;&nbsp;&nbsp;on: yes</p>',
    ],
    [
      '- **x**\n\n  SELECT a\n    FROM t;',
      '<ul><li><p><strong>x</strong></p><p>SELECT a<br>&nbsp;&nbsp;FROM t;</p></li></ul>',
    ],
    [
      '7) [[a]: https://x.y\n[a]: https://x.y',
      '<ol start="7"><li><p>[[a]: https://x.y<br>[a]: https://x.y</p></li></ol>',
    ],
    ['**Plan**\n  one\n  two', '<p><strong>Plan</strong></p><p>one</p><p>two</p>'],
    ['- **a**\n  goes on', '<ul><li><p><strong>a</strong><br>goes on</p></li></ul>'],
    ['> Make it work.\n> Make it right.', '<blockquote><p>Make it work.</p><p>Make it right.</p></blockquote>'],
    ['[the report](https://example.com/r)', '<p>the report (https://example.com/r)</p>'],
    ['[**bold**](https://example.com/r "Title")', '<p><strong>bold</strong> (https://example.com/r)</p>'],
    ['[Forge](https://e.org/a_(b)) x', '<p>Forge (https://e.org/a_(b)) x</p>'],
    ['[https://a.example](https://a.example)', '<p>https://a.example</p>'],
    ['**x** <https://a.example/b_c_d>', '<p><strong>x</strong> https://a.example/b_c_d</p>'],
    ['**x** <mailto:a@b.example>', '<p><strong>x</strong> mailto:a@b.example</p>'],
    ['**x** [bad](javascript:alert(1)) [rel](/a)', '<p><strong>x</strong> bad rel</p>'],
    ['![shot](https://a.example/x.png)', '<p>shot (https://a.example/x.png)</p>'],
    ['**x** ![shot](https://a.example/x.png)', '<p><strong>x</strong> shot (https://a.example/x.png)</p>'],
    // No link lies in a link.
    ['[a [b](https://b.example) c](https://c.example)', '<p>[a b (https://b.example) c](https://c.example)</p>'],
    ['[a [b](https://b.example)] [c](https://c.example)', '<p>[a b (https://b.example)] c (https://c.example)</p>'],
    [
      '[![badge](https://b.example/x.png)](https://c.example)',
      '<p>badge (https://b.example/x.png) (https://c.example)</p>',
    ],
    ['![a ![b](https://b.example) c](https://c.example)', '<p>a b (https://b.example) c (https://c.example)</p>'],
    [
      '**x** ![[b](https://b.example)](https://c.example)',
      '<p><strong>x</strong> b (https://b.example) (https://c.example)</p>',
    ],
    // An escaped backtick ends a code span all the same.
    ['**x** `a\\` b', '<p><strong>x</strong> <code>a\\</code> b</p>'],
    ['**x** ``a`b`` `c', '<p><strong>x</strong> <code>a`b</code> `c</p>'],
    ['| Task | Hours |\n|---|:-:|\n| Import | 3 |\n| Rest | |', '<p>Task · Hours</p><p>Import · 3</p><p>Rest</p>'],
    ['**b** <script>alert(1)</script>', '<p><strong>b</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ])('%j', (text, html) => {
    expect(paste(text)).toBe(html);
  });
});

describe('Markdown of other programs', () => {
  const join = (text: string): string => parseMarkdown(text, { softBreaks: 'join' });
  const list = (...texts: string[]): string => `<ul>${texts.map((text) => `<li>${text}</li>`).join('')}</ul>`;
  const nested = list(`<p>a</p>${list('<p>b</p>' + list('<p>c</p>'))}`, '<p>d</p>');

  test.each([
    ['tabs below a bullet', '- a\n\t- b\n\t\t- c\n- d', nested],
    ['four spaces below a bullet', '- a\n    - b\n        - c\n- d', nested],
    ['two spaces below a bullet', '- a\n  - b\n    - c\n- d', nested],
    ['other bullets', '* a\n  + b\n    - c\n* d', nested],
    ['tabs behind bullets', '-\ta\n\t-\tb\n\t\t-\tc\n-\td', nested],
    [
      'a fence indented by a tab in an item',
      '- a\n\t```\n\tx\n\t  y\n\t```\n- b',
      '<ul><li><p>a</p><pre><code>x\n  y</code></pre></li><li><p>b</p></li></ul>',
    ],
    ['one number for all items', '1. a\n1. b\n1. c', '<ol><li><p>a</p></li><li><p>b</p></li><li><p>c</p></li></ol>'],
    ['a first number', '7) a\n8) b', '<ol start="7"><li><p>a</p></li><li><p>b</p></li></ol>'],
    ['an item with two paragraphs', '1. a\n\n   b', '<ol><li><p>a</p><p>b</p></li></ol>'],
    ['items apart', '- a\n\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['line breaks of HTML', 'a<br>b<br/>c<BR />d', '<p>a<br>b<br>c<br>d</p>'],
    [
      'character references',
      '&copy; &euro; &#8364; &#x20AC; &nbsp;| &unknown; &amp;lt;',
      '<p>© € € € &nbsp;| &amp;unknown; &amp;lt;</p>',
    ],
    ['closing signs of a heading', '## Done ##\n# C# #', '<h2>Done</h2><h1>C#</h1>'],
    ['underlined headings', 'One\n===\n\nTwo\n---\n\nx', '<h1>One</h1><h2>Two</h2><p>x</p>'],
    ['a table without outer pipes', 'a | b\n--|--\n**c** | d', '<p>a · b</p><p><strong>c</strong> · d</p>'],
    [
      'a table with a break and a pipe in a cell',
      '| a | b |\n|:-|-:|\n| c<br>d | `e\\|f` |',
      '<p>a · b</p><p>c<br>d · <code>e|f</code></p>',
    ],
    [
      'cells beyond the header',
      '> | a | b |\n> |--|--|\n> | c | d | e | f |',
      '<blockquote><p>a · b</p><p>c · d · e · f</p></blockquote>',
    ],
    [
      'code beside its fence, without the language',
      '```npm ci && npm test\nnext\n```\n~~~ js {1} title="a"\nx\n~~~',
      '<pre><code>npm ci &amp;&amp; npm test\nnext</code></pre><pre><code>x</code></pre>',
    ],
    [
      'a table in an item',
      '1.\t- | a | b |\n\t  |--|--|\n\t  | c | d |',
      '<ol><li><ul><li><p>a · b</p><p>c · d</p></li></ul></li></ol>',
    ],
    ['cells without a header', '| | |\n|--|--|\n| c | d |', '<p>c · d</p>'],
    [
      'reference links',
      '[the *report*][1] and [1]\n\n[1]: https://a.example/r "Title"',
      '<p>the <em>report</em> (https://a.example/r) and 1 (https://a.example/r)</p>',
    ],
    ['a reference that nothing uses', 'x\n\n[1]: https://a.example/r', '<p>x</p><p>[1]: https://a.example/r</p>'],
    [
      'a second definition',
      '[1]\n\n[1]: https://a.example\n[1]: https://b.example',
      '<p>1 (https://a.example)</p><p>[1]: https://b.example</p>',
    ],
    [
      'a note that looks like a reference',
      '[TODO]: call\n\n[^1]: word\n\n[TODO] x[^1]',
      '<p>[TODO]: call</p><p>[^1]: word</p><p>[TODO] x[^1]</p>',
    ],
    ['indented code', 'x\n\n    npm ci\n\n      y\n\nz', '<p>x</p><pre><code>npm ci\n\n  y</code></pre><p>z</p>'],
    ['fences of tildes with a language', '~~~js\na\n```\n~~~', '<pre><code>a\n```</code></pre>'],
    ['two spaces at the end of a line', 'a  \nb', '<p>a<br>b</p>'],
    ['a backslash at the end of a line', 'a\\\nb', '<p>a<br>b</p>'],
    ['check boxes', '- [ ] a\n- [x] b\n- [X] c', list('<p>[ ] a</p>', '<p>[x] b</p>', '<p>[X] c</p>')],
    ['rules', 'a\n\n***\n\n- - -\n\nb', '<p>a</p><p>b</p>'],
    ['a quote with a list and a lazy line', '> - a\n> - b\n\n> c\nd', null],
    [
      'marks of HTML',
      '<b>a</b> <i>b</i> <del>c</del> <ins>d</ins> <kbd>e</kbd> <mark>f</mark>',
      '<p><strong>a</strong> <em>b</em> <s>c</s> <u>d</u> <code>e</code> f</p>',
    ],
    [
      'a link and an image of HTML',
      '<a href="https://a.example">a</a> <img src="https://b.example/x.png" alt="b">',
      '<p>a (https://a.example) b (https://b.example/x.png)</p>',
    ],
    [
      'a block of HTML',
      '<div align="center">\n<h1>a</h1><p>b &amp; **c**</p>\n</div>\n\n**d**',
      '<p>a</p><p>b &amp; **c**</p><p><strong>d</strong></p>',
    ],
    ['folded details', '<details>\n<summary>More</summary>\n\n- a\n\n</details>', `<p>More</p>${list('<p>a</p>')}`],
    ['comments', 'a <!-- b --> c\n\n<!-- d -->\n\ne', '<p>a  c</p><p>e</p>'],
    ['unknown tags', 'Map<Key> and <T extends X>', '<p>Map&lt;Key&gt; and &lt;T extends X&gt;</p>'],
    ['a long number', '20261128. text', '<p>20261128. text</p>'],
    [
      'an address as it is written',
      '[a](https://de.wikipedia.org/wiki/Köln_(Stadt)) <https://bücher.example/ä>',
      '<p>a (https://de.wikipedia.org/wiki/Köln_(Stadt)) https://bücher.example/ä</p>',
    ],
    ['a control character, a BOM and CRLF', '\uFEFF# a\r\n\r\nb\0c', '<h1>a</h1><p>bc</p>'],
    [
      'properties above the text',
      '---\ntitle: A\ntags:\n  - b\n---\n\n# c',
      '<p>title: A</p><p>tags:</p><p>- b</p><h1>c</h1>',
    ],
    ['a rule above the text', '---\n\na: b, and so on.\n\n---\n\nc', '<p>a: b, and so on.</p><p>c</p>'],
  ])('%s', (_what, text, html) => {
    const expected =
      html ?? '<blockquote><ul><li><p>a</p></li><li><p>b</p></li></ul></blockquote><blockquote><p>c d</p></blockquote>';
    expect(join(text)).toBe(expected);
    if (html !== null) expect(paste(text)).toBe(expected);
  });

  test.each([
    ['a\nb', '<p>a b</p>', '<p>a</p><p>b</p>'],
    ['- a\n  b\nc', '<ul><li><p>a b c</p></li></ul>', '<ul><li><p>a<br>b</p></li></ul><p>c</p>'],
    [
      '- a\n  - b\n  c\n- d',
      '<ul><li><p>a</p><ul><li><p>b c</p></li></ul></li><li><p>d</p></li></ul>',
      '<ul><li><p>a</p><ul><li><p>b</p></li></ul><p>c</p></li><li><p>d</p></li></ul>',
    ],
    [
      '- a\n| x | y |\n|---|---|\n| 1 | 2 |',
      '<ul><li><p>a | x | y | |---|---| | 1 | 2 |</p></li></ul>',
      '<ul><li><p>a</p></li></ul><p>x · y</p><p>1 · 2</p>',
    ],
    ['**a\nb** c', '<p><strong>a b</strong> c</p>', '<p><strong>a</strong></p><p><strong>b</strong> c</p>'],
    ['日本\n語。\nです a\nb', '<p>日本語。です a b</p>', '<p>日本</p><p>語。</p><p>です a</p><p>b</p>'],
    ['한국\n어', '<p>한국 어</p>', '<p>한국</p><p>어</p>'],
    ['<div>日本\n', '<p>日本</p>', '<p>日本</p>'],
    ['\\<br> a\nb', '<p>&lt;br&gt; a b</p>', '<p>&lt;br&gt; a</p><p>b</p>'],
    ['a<br>\nb<br />\nc', '<p>a<br>b<br>c</p>', '<p>a<br>b<br>c</p>'],
    ['a\nb\n===', '<h1>a b</h1>', '<h1>a<br>b</h1>'],
    [
      '1. a\n  - b\n  - c',
      '<ol><li><p>a</p></li></ol><ul><li><p>b</p></li><li><p>c</p></li></ul>',
      '<ol><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul></li></ol>',
    ],
    [
      '10. a\n  ```\n  x\n  ```\n  - b',
      null,
      '<ol start="10"><li><p>a</p></li></ol><pre><code>x</code></pre><ul><li><p>b</p></li></ul>',
    ],
    [
      '1. a\n  - b\n    ```\n    • x\n    ```\n2. c',
      null,
      '<ol><li><p>a</p><ul><li><p>b</p><pre><code>• x</code></pre></li></ul></li><li><p>c</p></li></ol>',
    ],
    ['• a\n  ◦ b\n• c', '<p>• a ◦ b • c</p>', '<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>'],
  ])('%j: line ends join or stay', (text, joined, kept) => {
    if (joined !== null) expect(join(text)).toBe(joined);
    expect(paste(text)).toBe(kept);
  });
});

describe('any Markdown', () => {
  const PIECES = [
    ...[
      '# ',
      '**',
      '*',
      '_',
      '~~',
      '`',
      '```',
      '~~~',
      '\n',
      '\n\n',
      '\r\n',
      '- ',
      '+ ',
      '1. ',
      '7) ',
      '  ',
      '    ',
      '\t',
    ],
    ...[
      '> ',
      '[',
      ']',
      '](https://a.b)',
      '](x "t")',
      '![',
      '[a]: https://x.y\n',
      '[a]',
      '[b]: z\n',
      '|',
      '---',
      '|-|-|\n',
      '===',
      'word',
      ' ',
      '<u>',
    ],
    ...[
      '</b>',
      '<br>',
      '<div>',
      '</div>',
      '<!--',
      '-->',
      '<?x',
      '<x y="z">',
      '<a href="https://q.r">',
      '</a>',
      '<img alt="pic">',
      '&amp;',
      '&copy;',
    ],
    ...[
      '&#65;',
      '\\',
      '\\\n',
      '  \n',
      '!',
      '[ ] ',
      '2026. ',
      '日',
      'é',
      '\u00A0',
      '---\nk: v\n---\n',
      '<https://m.n>',
      '<script>',
      ': ',
    ],
  ];
  const markdown = fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 40 })
    .map((pieces) => pieces.join(''));
  const options = fc.constantFrom<MarkdownOptions>(
    { softBreaks: 'keep' },
    { softBreaks: 'join' },
    { softBreaks: 'join', topHeading: 2 },
  );

  const reference = createMarkdownIt({ html: true });
  reference.validateLink = () => true;
  /** The letters and digits that CommonMark shows. Comments and tags are hidden, also in the text of an image. */
  const lettersOf = (html: string): string[] => {
    const text = html
      .replaceAll('&copy;', '©')
      .replaceAll('&#65;', 'A')
      .replace(/<!--(?:>|->|[^]*?-->)/g, '')
      .replace(/<\?[^]*?\?>|<\/?[a-z][^<>]*>/gi, (tag) =>
        (/ alt="([^"]*)"/.exec(tag)?.[1] ?? '').replace(/&lt;.*?&gt;/g, ''),
      );
    return decodeReferences(text).match(/[\p{L}\p{N}]/gu) ?? [];
  };

  test.each(['> ', '- ', '1. ', '> - ', '- > 1. ', '![', '**', '*a **b ', '<b>', '<div>'])(
    'with %j nested a thousand times becomes a clean log with all its words',
    (part) => {
      for (const text of [
        part.repeat(1_000) + 'word',
        Array.from({ length: 400 }, (_, depth) => `${' '.repeat(2 * depth)}${part}word`).join('\n'),
      ])
        for (const softBreaks of ['keep', 'join'] as const) {
          const log = parseMarkdown(text, { softBreaks });
          expect(isCleanLog(log)).toBe(true);
          expect(log.match(/word/g)).toHaveLength(text.match(/word/g)!.length);
        }
    },
  );

  test('becomes a clean log that shows every letter that CommonMark shows', isLong ? { timeout: 600_000 } : {}, () => {
    fc.assert(
      fc.property(markdown, options, (text, option) => {
        const log = parseMarkdown(text.toWellFormed(), option);
        expect(isCleanLog(log), log).toBe(true);
        const shown = entryText(log);
        let at = 0;
        for (const letter of lettersOf(reference.render(text.toWellFormed().replaceAll('\0', '')))) {
          at = shown.indexOf(letter, at) + 1;
          expect(at, `${letter} of ${reference.render(text)} in ${shown}`).toBeGreaterThan(0);
        }
      }),
      { numRuns: isLong ? 100_000 : 1_000 },
    );
  });

  test('takes linear time on adversarial input', () => {
    // Quadratic time would exceed the test's timeout.
    for (const part of [
      '*',
      '**a',
      '*a ',
      '_a ',
      '~~a',
      '`',
      '`a',
      '[',
      '[a](',
      '](',
      '](https://a "',
      '|',
      '|-',
      '> ',
      '# ',
      '\n',
      '**a** ',
      '<u>',
    ])
      for (const start of ['', '**x** ']) paste(start + part.repeat(40_000));
  });
});
