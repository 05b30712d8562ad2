import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { plainMarkdown } from './plain-markdown.ts';

const vault = (text: string): string => plainMarkdown(text, { isVault: true }).text;

describe('Markdown of other programs', () => {
  test.each([
    ['![a](b.png)', '', 1],
    ['Before ![a](b (1).png "t") after', 'Before  after', 1],
    ['- ![a](b.png)\n- text', '- text', 1],
    ['![a][ref] and <img src="x.png"> and ![](<a b.png>){width=3}', ' and  and', 3],
    ['[![a](b.png)](https://e.org)', '', 1],
    ['<audio controls src="a.mp3"></audio>text', 'text', 1],
    ['[report.pdf](files/report.pdf)', 'report.pdf', 1],
    [
      '[Page](Page%20abc.md) [web](https://e.org) [mail](mailto:a@e.org)',
      'Page [web](https://e.org) [mail](mailto:a@e.org)',
      0,
    ],
    ['[image:A1/b.png]', '', 1],
    ['`![a](b.png)` ``[[x]]``', '`![a](b.png)` ``[[x]]``', 0],
    ['```\n![a](b.png)\n```', '```\n![a](b.png)\n```', 0],
    ['a ` b ![x](y.png)\n\nc ` d', 'a ` b\n\nc ` d', 1],
    ['[[not a wiki link]]', '[[not a wiki link]]', 0],
  ])('%j becomes %j', (source, text, pictures) => {
    expect(plainMarkdown(source)).toEqual({ text, pictures });
  });

  test.each([
    ['[[Plan]] and [[a/b|the plan]] and [[Plan#Next]] and [[#Next]]', 'Plan and the plan and Plan > Next and Next'],
    ['| [[Plan\\|P]] |', '| P |'],
    ['![[Note]] ![[pic.png|100]]', 'Note'],
    ['![[pic.png]]\ntext', 'text'],
    ['A line ^abc123\n^37066d\nx ^2 and 5 ^n', 'A line\nx ^2 and 5 ^n'],
    ['100%% sure and 50%% more', '100%% sure and 50%% more'],
    ['a %%since 2024%% b %%x%% c', 'a  b  c'],
    ['seen %%hidden%% seen\n\n%%\nhidden\n\n- too\n%%\n\nend', 'seen  seen\n\n\n\nend'],
    ['> [!tip]- Good to know\n> text', '> **Good to know**\n>\n> text'],
    ['> [!note]\n> text', '> text'],
    ['==marked== a == b', 'marked a == b'],
    [
      'mood:: good\n- due:: 2024-05-01\nThe [rating:: 9] film, std::vector',
      'mood: good\n- due: 2024-05-01\nThe rating: 9 film, std::vector',
    ],
    ['```dataview\nlist\n```\ntext', 'text'],
    ['```js\nlet a = [[1]];\n```', '```js\nlet a = [[1]];\n```'],
    ['> ```\n> [[x]]\n> ```', '> ```\n> [[x]]\n> ```'],
  ])('of a vault: %j becomes %j', (source, text) => {
    expect(vault(source)).toBe(text);
  });

  test('is converted in linear time', async () => {
    const convertAll = () => {
      for (const unit of ['[[', '![', '[a](', '`', '``  `', '%%', '==', '<img ', '[x::', '> [!a]', '(a:: ', '[b]'])
        plainMarkdown(unit.repeat(50_000 / unit.length), { isVault: true });
      for (const before of ['', '[']) plainMarkdown(`${before}${' '.repeat(200_000)}x`, { isVault: true });
    };
    expect(await measureCpuMs(convertAll)).toBeLessThan(5_000);
  });
});
