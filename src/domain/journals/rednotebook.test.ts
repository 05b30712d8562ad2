import fc from 'fast-check';
import { stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { redNotebook, txt2tagsHtml } from './rednotebook.ts';

const read = (files: Record<string, string>) => readFiles(redNotebook, sourceFiles(files));
const html = (source: string): string => txt2tagsHtml(source).text;

describe('the folder of RedNotebook', () => {
  test('is recognised by a month with numbered days', async () => {
    expect(await detectProgram(sourceFiles({ 'data/2024-05.txt': '1:\n  text: Hello\n' }))).toBe('RedNotebook');
    expect(await detectProgram(sourceFiles({ '2024-05.txt': "3: {text: 'Hello'}\n" }))).toBe('RedNotebook');
    expect(await detectProgram(sourceFiles({ '2024-05.txt': 'A month without numbers' }))).not.toBe('RedNotebook');
  });

  test('gives each day its text, whatever form of YAML it has', async () => {
    const month = [
      "1: {text: 'Said ''hi'' to",
      '',
      "    Ann'}",
      '2:',
      '  text: |-',
      '    A block',
      '    - with a list',
      '12:',
      '  text: "Tab\\there, \\xFCber\\',
      '    \\ folded"',
      '31: {text: plain text: no}',
    ].join('\n');
    const { entries, skipped } = await read({ 'data/2024-05.txt': month });
    expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
      ['2024-05-01', '<p>Said &#39;hi&#39; to<br>Ann</p>'.replaceAll('&#39;', "'")],
      ['2024-05-02', '<p>A block</p><ul><li><p>with a list</p></li></ul>'],
      ['2024-05-12', '<p>Tab\there, über folded</p>'],
    ]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'data/2024-05.txt, day 31', reason: 'broken' }]);
  });

  test('lists notes of categories below the text, and leaves tags out', async () => {
    const month =
      '4:\n  text: Work\n  Ideas:\n    A **big** one: null\n    Another: null\n  Tags:\n    Office: null\n  urgent: null\n5:\n  Todo: {Only a note: null}\n6:\n  text: ""\n';
    const { entries } = await read({ '2024-05.txt': month });
    expect(entries.map(({ body }) => body.text)).toEqual([
      '<p>Work</p><p><strong>Ideas</strong></p><ul><li>A <strong>big</strong> one</li><li>Another</li></ul>',
      '<p><strong>Todo</strong></p><ul><li>Only a note</li></ul>',
    ]);
  });

  test('is Markdown where the journal says so', async () => {
    const { entries } = await read({
      '2026-10.txt': '1:\n  text: "*emph* {red|color:red} ![](a.png)"\n',
      'journal.cfg': 'markup=markdown\n',
    });
    expect(entries).toMatchObject([{ body: { format: 'markdown', text: '*emph* red' }, pictures: 1 }]);
  });

  test('names a day that does not exist', async () => {
    const { entries, skipped } = await read({ '2024-02.txt': '30:\n  text: x\n', '2024-13.txt': '1:\n  text: x\n' });
    expect(entries).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual(['invalidDate', 'invalidDate']);
  });

  test('gives back any text of any day', async () => {
    const text = fc
      .string({
        unit: fc.constantFrom('a', 'ü', '日', ' ', "'", '"', ':', '#', '\n', '{', '&', '.'),
        minLength: 1,
        maxLength: 40,
      })
      .map((value) => `x${value.replaceAll('\n', '\nx')}`);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), async (texts) => {
        const days = Object.fromEntries(texts.map((value, index) => [index + 1, { text: value }]));
        const { entries, skipped } = await read({ '2024-05.txt': stringify(days) });
        expect(skipped).toEqual([]);
        const words = (value: string): string =>
          value
            .replace(/<[^<>]*>/g, '')
            .replaceAll('&amp;', '&')
            .replaceAll('&quot;', '"')
            .replace(/[\s"']+/g, '');
        expect(entries.map(({ body }) => words(body.text))).toEqual(
          texts.map((value) => value.replace(/[\s"']+/g, '')),
        );
      }),
    );
  });
});

describe('txt2tags', () => {
  test.each([
    ['**b** //i// __u__ --s-- ``c``', '<p><strong>b</strong> <em>i</em> <u>u</u> <s>s</s> <code>c</code></p>'],
    ['a ** b ** c -- d', '<p>a ** b ** c -- d</p>'],
    ['""**not bold**"" <b>', '<p>**not bold** &lt;b&gt;</p>'],
    ['See http://e.org/a_b//c, ok', '<p>See <a href="http://e.org/a_b//c">http://e.org/a_b//c</a>, ok</p>'],
    ['[site www.e.org] and [not sure]', '<p><a href="https://www.e.org">site</a> and [not sure]</p>'],
    ['[my file ""file:///home/me/my file.txt""]', '<p>my file</p>'],
    ['[2019-02-14] [Then 2019-02-14]', '<p>2019-02-14 Then</p>'],
    ['{red|color:red} one\\\\\ntwo', '<p>red one<br>two</p>'],
    ['== My //day// ==\ntext', '<h2>My //day//</h2><p>text</p>'],
    [
      '- a\n  - b\n  - c\n+ d',
      '<ul><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul></li></ul><ol><li><p>d</p></li></ol>',
    ],
    ['- a\n\n\nb', '<ul><li><p>a</p></li></ul><p>b</p>'],
    ['% hidden\nseen\n%%%\nhidden\n%%%', '<p>seen</p>'],
    ['```\n**x** <y>\n```', '<pre><code>**x** &lt;y&gt;</code></pre>'],
    ['\tquote\ntext', '<blockquote>quote</blockquote><p>text</p>'],
    ['====================\nWork', '<p>Work</p>'],
    [
      '|| A | B |\n| c | d |',
      '<table><tr><td>A</td><td>B</td></tr></table><table><tr><td>c</td><td>d</td></tr></table>',
    ],
  ])('turns %j into HTML', (source, expected) => {
    expect(html(source)).toBe(expected);
  });

  test('counts pictures and leaves them out', () => {
    expect(txt2tagsHtml('[""/home/me/my pic"".jpg?300] and [pic.png]')).toEqual({ text: '<p> and </p>', pictures: 2 });
  });

  test('takes linear time', async () => {
    const convertAll = () => {
      for (const unit of ['**', '[a ', '""x', '//', '- ', '{', 'http://', '``', '|'])
        html(unit.repeat(100_000 / unit.length));
    };
    expect(await measureCpuMs(convertAll)).toBeLessThan(5_000);
  });
});
