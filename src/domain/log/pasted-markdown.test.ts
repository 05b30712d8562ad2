import { describe, expect, test } from 'vitest';
import { joinCells, looksLikeMarkdown } from './pasted-markdown.ts';

describe('plain text is not Markdown', () => {
  test.each([
    'Fixed #1 and #23, see PR #456',
    '#1 priority: the login',
    '#hashtag and #another',
    '2 * 3 * 4 = 24',
    'Costs 5* per unit, 6* in bulk',
    'snake_case and __init__ and _private_',
    '**kwargs and *args',
    'def f(*args, **kwargs):\n    return args',
    'rm -rf *.log *.tmp',
    'ls src/**/*.ts and **/foo/**',
    '*/5 * * * * /usr/bin/backup',
    'a price of $5 ~ $10, ~20 people, ~~ roughly',
    '# install\nnpm ci\n# run\nnpm test',
    '# install\n\nnpm ci && npm test',
    '$ git commit -m "fix"\n$ git push',
    'echo `date` > now.txt',
    'SELECT `id` FROM `users` WHERE `name` = "x";',
    'const name = `a ${b}`;\nconsole.log(name);',
    'int *a, *b;\nchar **c = **d;',
    'On Mon, Anna wrote:\n> can you look at it?\n> thanks\n\nSure.',
    'Am Montag schrieb Anna:\n\n> Kannst du schauen?\n\nJa.',
    '> first\n>> second\n> third',
    '> hustle-forge@0.1.0 build\n> vite build\n\nbuilt in 2s',
    'From: Anna\nTo: Ben\n\n> Hello there\n\nHi',
    'anna@example.com <anna@example.com>',
    'array[0](x) and list[1](2)',
    '[link](x)',
    '- one\n- two\n  - three',
    '1. one\n2. two',
    '```\nnever closed',
    '<p class="x">**a**</p>',
    'a | b | c\n1 | 2 | 3',
    ' id | name\n----+------\n  1 | Ada',
    'id | name\n\n-----\n\n1 | Ada',
    '===== FAILURES =====\ntest a',
    'one\ntwo\n===\nthree',
    'a[0][1] and\n[note]: call',
    '[1]: https://example.com/r',
    'x: 1\ny: 2\n---\nz: 3',
    '# hosts\n- name: web\n  groups:\n    - a',
    'on:\n  push:\n    # **all** branches\n    paths: [a]',
    'https://example.com/a_b_c/*d*',
    'https://example.com/?q=*a*&r=_b c_\nwww.example.com/?s=**b**',
    'Error: no\n    at f (a.js:1)\n    at g (b.js:2)',
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b',
  ])('%j', (text) => {
    expect(looksLikeMarkdown(text)).toBe(false);
  });
});

describe('text with evidence of Markdown is Markdown', () => {
  test.each([
    '# Monday',
    '## Done\ntext',
    '# Done\n- a\n- b',
    '**Fixed** the *login*',
    'a __b__ and _two words_',
    '~~dropped~~ kept',
    'Renamed `old_name` to `new_name`',
    '**unclosed and **closed**',
    '- **Work**: shipped\n  **Note**: late',
    'Run:\n\n```sh\n# not a heading\nnpm ci\n```',
    '- Fixed `a`\n\t- nested **b**\n- c',
    '> Make it work.\n> Make it right.',
    '[the report](https://example.com/r)',
    '![shot](https://a.example/x.png)',
    '| Task | Hours |\n|---|:-:|\n| Import | 3 |',
    'Task | Hours\n--- | ---:\nImport | 3',
    'Monday\n======\n\ntext',
    '---\ntitle: Monday\ntags: [a]\n---\ntext',
    '- a\n\t\t```\n\t\tcode\n\t\t```',
    'see [the report][1]\n\n[1]: https://example.com/r',
  ])('%j', (text) => {
    expect(looksLikeMarkdown(text)).toBe(true);
  });

  test('takes linear time on adversarial input', () => {
    // Quadratic time would exceed the test's timeout.
    for (const part of ['*', '**a', '*a ', '_a ', '~~a', '`', '`a', '[', '[a](', '](', '|', '|-', '> ', '# ', '\n'])
      for (const start of ['', '**x** ']) looksLikeMarkdown(start + part.repeat(40_000));
    looksLikeMarkdown(`${'~'.repeat(1_000_000)}\``);
  });
});

test.each([
  [['a', 'b', 'c'], 'a · b · c'],
  [['a', '', 'c'], 'a · – · c'],
  [['a', ' ', ''], 'a'],
  [['', ''], ''],
])('joins the cells %j into one line', (cells, line) => {
  expect(joinCells(cells)).toBe(line);
});
