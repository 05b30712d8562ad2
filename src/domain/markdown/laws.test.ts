/** The laws of the Markdown export: a log comes back whole, also after Prettier reformatted the file. */
import fc from 'fast-check';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { editorLogs } from '../../../tests/support/log-arbitraries.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { entryText } from '../log/entry-text.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { writeMarkdown } from './write-markdown.ts';

const read = (markdown: string): string => parseMarkdown(markdown, { softBreaks: 'join', topHeading: 2 });
/** Prettier removes blanks at the ends of lines, also in code. */
const withoutCodeEnds = (log: string): string =>
  log.replace(/<pre>.*?<\/pre>/gs, (code) => code.replace(/[ \t]+(?=\n|<)/g, ''));

test.each(['preserve', 'always', 'never'] as const)(
  'a log comes back from Prettier (proseWrap: %s)',
  async (proseWrap) => {
    await fc.assert(
      fc.asyncProperty(editorLogs, async (log) => {
        const exported = writeMarkdown(log);
        const back = read(exported);
        expect(isCleanLog(back)).toBe(true);
        expect(entryText(back)).toBe(entryText(log));
        const reformatted = await format(exported, { parser: 'markdown', proseWrap });
        expect(withoutCodeEnds(read(reformatted)), reformatted).toBe(withoutCodeEnds(back));
      }),
      { numRuns: fuzzBudget(250) },
    );
  },
);
