import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { markdownFiles } from './markdown-files.ts';
import { markdownOfOrg } from './org-mode.ts';

describe('Org mode as Markdown', () => {
  test.each([
    ['* [2024-05-02 Thu 09:15] Title', '# 2024-05-02 09:15 Title'],
    ['* <2024-05-01 mié>', '# 2024-05-01'],
    ['*** TODO [#A] Write it :work:home:', '### [ ] Write it'],
    ['* DONE Call /Ann/ at *noon*', '# [x] Call *Ann* at **noon**'],
    ['- [X] done\n- [ ] open\n- [-] part', '- [x] done\n- [ ] open\n- [-] part'],
    ['=code= and ~verbatim~, +gone+', '`code` and `verbatim`, ~~gone~~'],
    ['a/b/c, 2*3*4, x=1=y and 1+1+1', 'a/b/c, 2*3*4, x=1=y and 1+1+1'],
    [
      '[[https://a.example/b/c/d][a *link*]] [[file:x.org][note]] [[id:1][two]]',
      '[a *link*](https://a.example/b/c/d) note two',
    ],
    ['see https://a.example/x/y/z now', 'see https://a.example/x/y/z now'],
    [':PROPERTIES:\n:ID: 1\n:END:\ntext\n# comment\n#+FILETAGS: x\n#hashtag', 'text\n#hashtag'],
    ['* One\n  text\n  - a\n    - b\n\n  more\n** Two\n   text', '# One\ntext\n- a\n  - b\n\nmore\n## Two\ntext'],
    ['**** Code\n     #+begin_src sh\n       ls\n         x\n     #+end_src', '#### Code\n```\n  ls\n    x\n```'],
    ['#+begin_src sh\n* ls /tmp/ =x=\n#+END_SRC\n#+begin_quote\nq\n#+end_quote', '```\n* ls /tmp/ =x=\n```\n> q'],
  ])('of %j is %j', (org, markdown) => {
    expect(markdownOfOrg(org)).toBe(markdown);
  });
});

test('reads a date tree and the files of org-journal', async () => {
  const tree =
    '#+TITLE: Journal\n* 2024\n** 2024-05 May\n*** 2024-05-01 Wednesday\n**** 09:15 Standup\n- [X] done\n*** 2024-05-02 Thursday\ntext\n';
  const files = sourceFiles({ 'journal.org': tree, 'days/20240503': '* Friday, 05/03/24\n** 10:00 Review\nbody\n' });
  expect(await detectProgram(files)).toBe('Markdown or text files');
  const { entries, skipped } = await readFiles(markdownFiles, files);
  expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
    ['2024-05-01', '#### 09:15 Standup\n- [x] done'],
    ['2024-05-02', 'text'],
    ['2024-05-03', '## 10:00 Review\nbody'],
  ]);
  expect(skipped).toEqual([]);
});
