import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { logseq } from './logseq.ts';

const CONFIG = { 'graph/logseq/config.edn': '{:meta/version 1}' };
const read = (files: Record<string, string>) => readFiles(logseq, sourceFiles({ ...CONFIG, ...files }));
const textOf = async (text: string, more: Record<string, string> = {}): Promise<string> =>
  (await read({ 'graph/journals/2024_05_01.md': text, ...more })).entries[0]?.body.text ?? '';

const ID = '6597dc2c-1f4b-4d0a-9c55-3f0b2b1a9e01';

describe('a graph of Logseq', () => {
  test('is recognised by its settings or by its journals', async () => {
    expect(await detectProgram(sourceFiles({ ...CONFIG, 'graph/journals/2024_05_01.md': '- a' }))).toBe('Logseq');
    expect(await detectProgram(sourceFiles({ 'journals/2024_05_01.md': '- a' }))).toBe('Logseq');
    expect(await detectProgram(sourceFiles({ 'journals/2024-05-01.md': 'a' }))).toBe('Markdown or text files');
  });

  test('gives each journal its day in any date format, and names other pages', async () => {
    const { entries, skipped } = await read({
      'graph/journals/2024_05_01.md': '- a',
      'graph/journals/May 2nd, 2024.md': '- b',
      'graph/journals/20240503.md': '- c',
      'graph/journals/2024_02_30.md': '- d',
      'graph/journals/2024_05_04.md': '-',
      'graph/pages/Plan.md': '- e',
      'graph/logseq/bak/journals/2024_05_01/1.md': '- old',
      'graph/logseq/.recycle/journals_2024_05_05.md': '- deleted',
    });
    expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
      ['2024-05-01', '- a'],
      ['2024-05-02', '- b'],
      ['2024-05-03', '- c'],
    ]);
    expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['graph/pages/Plan.md', 'noDate'],
      ['graph/journals/2024_02_30.md', 'invalidDate'],
      ['graph/journals/2024_05_04.md', 'empty'],
    ]);
  });

  test.each([
    [
      '- TODO call\n- DOING [#A] write\n- DONE ship\n- CANCELED trip\n- LATER # Read',
      '- [ ] call\n- [ ] write\n- [x] ship\n- Canceled: trip\n- [ ] # Read',
    ],
    ['- a\n  id:: ' + ID + '\n  collapsed:: true\n  mood:: good\n\t- b', '- a\n  mood: good\n\t- b'],
    ['title:: x\ntags:: y\n\n- a', '- a'],
    ['- id:: ' + ID + '\n  text\n- b', '- text\n- b'],
    ['-\n- a\n-', '- a'],
    ['-\n\t- a', '-\n\t- a'],
    ['- DONE a\n  :LOGBOOK:\n  CLOCK: [2024-05-01 Wed 09:00:00]\n  :END:\n- b', '- [x] a\n- b'],
    ['- a\n  SCHEDULED: <2024-05-02 Thu>', '- a\n  Scheduled: 2024-05-02 Thu'],
    [
      '- #[[big idea]] and [[May 1st, 2024]] and [plan]([[Plan]]) and ^^lit^^',
      '- #big idea and May 1st, 2024 and plan and lit',
    ],
    ['- {{video https://e.org/v}} {{cloze word}} {{query (todo)}}{{renderer :x}}', '- https://e.org/v word'],
    ['- ![a.png](../assets/a.png){:height 3, :width 4}\n- b', '- b'],
    ['- #+BEGIN_QUOTE\n  said\n  #+END_QUOTE', '- > said'],
    [
      '- a\n  #+BEGIN_SRC clj\n  #+BEGIN_QUERY\n  x:: {{y}}\n  #+END_SRC\n- b',
      '- a\n  ```\n  #+BEGIN_QUERY\n  x:: {{y}}\n  ```\n- b',
    ],
    ['- a\n  #+BEGIN_QUERY\n  {:x 1}\n  #+END_QUERY\n  b', '- a\n  b'],
    [
      '---\ntitle: Feb 20th, 2021\n---\n\n## DONE a\n:PROPERTIES:\n:done: 16\n:END:\nmore\n### b',
      '- [x] a\n  more\n  - b',
    ],
    ['- ```\n  TODO id:: x [[y]]\n  ```\n- b', '- ```\n  TODO id:: x [[y]]\n  ```\n- b'],
  ])('shows %j as %j', async (source, text) => {
    expect((await textOf(source)).replace(/ +$/gm, '')).toBe(text);
  });

  test('may be written in Org mode', async () => {
    const org =
      '#+TITLE: x\n* TODO /call/ *Ann*\n:LOGBOOK:\nCLOCK: x\n:END:\n** more\nnext\n#+BEGIN_SRC sh\nls *a* *b*\n#+END_SRC\n#+BEGIN_QUERY\n{:x 1}\n#+END_QUERY\n* [[https://a.example][link]] [[Page]]\n';
    const { entries } = await read({ 'graph/journals/2024_05_01.org': org });
    expect(entries[0]!.body.text).toBe(
      '- [ ] *call* **Ann**\n  - more\n    next\n    ```\n    ls *a* *b*\n    ```\n- [link](https://a.example) Page',
    );
  });

  test('puts the text of a block in the place of its references', async () => {
    const pages = { 'graph/pages/Plan.md': `- # TODO Ship it\n  id:: ${ID}\n- other` };
    expect(
      await textOf(
        `- see ((${ID})) and {{embed ((${ID}))}} and [this](((${ID}))) ((00000000-0000-0000-0000-000000000000))`,
        pages,
      ),
    ).toBe('- see Ship it and Ship it and this');
  });

  test('keeps every word of any outline', async () => {
    const block = fc.record({
      depth: fc.integer({ min: 0, max: 4 }),
      text: fc.stringMatching(/^[a-z]{2,8}( [a-z]{2,8}){0,3}$/),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 8 }), async (blocks) => {
        const source = blocks
          .map(({ depth, text }) => `${'\t'.repeat(depth)}- ${text}\n${'\t'.repeat(depth)}  id:: ${ID}`)
          .join('\n');
        const expected = blocks.map(({ depth, text }) => `${'\t'.repeat(depth)}- ${text}`).join('\n');
        expect(await textOf(source)).toBe(expected);
      }),
    );
  });
});
