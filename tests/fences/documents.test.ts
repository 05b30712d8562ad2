/** The index and the sections of the specification, the citations of them, and the heads of the decision records. */
import { glob, readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const FOLDER = 'docs/specification';
const PLACES = '{src,tests,simulators,benchmarks,scripts,database,docs}/**/*.{ts,tsx,css,sql,md,yaml}';
const CITATION = /docs\/specification\/([a-z-]+\.md)`? (\d+(?:(?:, | and )\d+(?![\d.]))*)/g;

const pageOf = (name: string): Promise<string> => readFile(`${FOLDER}/${name}`, 'utf8');

const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
const sections = new Map<string, number[]>();
for (const name of pages) {
  const headings = [...(await pageOf(name)).matchAll(/^## (\d+)\. /gm)];
  sections.set(
    name,
    headings.map(([, number]) => Number(number)),
  );
}

test.each(pages)('%s numbers its sections from 1 without a gap', (name) => {
  const numbers = sections.get(name)!;
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test('the index links every page', async () => {
  const index = await pageOf('README.md');
  expect(pages.filter((name) => !index.includes(`[${name}](${name})`))).toEqual([]);
});

test('every cited section exists', async () => {
  const missing: string[] = [];
  let citations = 0;
  for await (const file of glob([PLACES, '*.md'])) {
    for (const [cited, name, numbers] of (await readFile(file, 'utf8')).matchAll(CITATION)) {
      citations += 1;
      const known = sections.get(name!);
      if (!numbers!.split(/, | and /).every((number) => known?.includes(Number(number))))
        missing.push(`${file}: ${cited}`);
    }
  }
  expect(missing).toEqual([]);
  expect(citations).toBeGreaterThan(0);
});

test('every decision record has a number of its own, a title, a date and a status', async () => {
  const names = await readdir('docs/decisions');
  expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
  for (const name of names) {
    const head = (await readFile(`docs/decisions/${name}`, 'utf8')).split('\n').slice(0, 3).join('\n');
    expect(head, name).toMatch(/^# (\d{4}) .+\n\nDate: \d{4}-\d\d-\d\d\. Status: (accepted|superseded by \d{4})/);
    expect(name.slice(0, 4)).toBe(head.slice(2, 6));
  }
});

test('every decision record has a context, one or more decisions and consequences, in this order', async () => {
  for (const name of await readdir('docs/decisions')) {
    const text = await readFile(`docs/decisions/${name}`, 'utf8');
    const parts = [...text.matchAll(/^\*\*(Context|Decision|Consequences)\b[^*]*\*\*/gm)].map(([, part]) => part);
    expect(parts.join(' '), name).toMatch(/^Context( Decision)+ Consequences$/);
  }
});
