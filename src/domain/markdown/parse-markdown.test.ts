/** Tests the conversion of foreign Markdown to logs. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { parseMarkdown } from './parse-markdown.ts';

const paste = (text: string): string => parseMarkdown(text, { softBreaks: 'keep' });

describe('a pasted note', () => {
  test.each([
    ['# Monday', '<h1>Monday</h1>'],
    ['## Done\ntext', '<h2>Done</h2><p>text</p>'],
    ['# Done\n- a\n- b', '<h1>Done</h1><ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['#### Deep', '<h3>Deep</h3>'],
    ['**Fixed** the *login*', '<p><strong>Fixed</strong> the <em>login</em></p>'],
    ['a __b__ and _two words_', '<p>a <strong>b</strong> and <em>two words</em></p>'],
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
    ['- **a**\n  goes on', '<ul><li><p><strong>a</strong><br>goes on</p></li></ul>'],
    ['> Make it work.\n> Make it right.', '<blockquote><p>Make it work.</p><p>Make it right.</p></blockquote>'],
    ['[the report](https://example.com/r)', '<p>the report (https://example.com/r)</p>'],
    ['[**bold**](https://example.com/r "Title")', '<p><strong>bold</strong> (https://example.com/r)</p>'],
    ['[Forge](https://e.org/a_(b)) x', '<p>Forge (https://e.org/a_(b)) x</p>'],
    ['[https://a.example](https://a.example)', '<p>https://a.example</p>'],
    ['**x** <https://a.example/b_c_d>', '<p><strong>x</strong> https://a.example/b_c_d</p>'],
    ['**x** <mailto:a@b.example>', '<p><strong>x</strong> a@b.example</p>'],
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

  test('returns a clean log for any Markdown', () => {
    const piece = fc.constantFrom(
      '# ',
      '**',
      '*',
      '_',
      '~~',
      '`',
      '```',
      '\n',
      '\n\n',
      '- ',
      '1. ',
      '  ',
      '\t',
      '> ',
      '[',
      '](https://a.b)',
      '|',
      '---',
      'word',
      ' ',
      '<u>',
      '&amp;',
      '\\',
      '!',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = paste(`**x**\n${pieces.join('')}`);
        if (html !== null) expect(isCleanLog(html), html).toBe(true);
      }),
      { numRuns: fuzzBudget(500) },
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
