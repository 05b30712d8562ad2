import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { ownExport } from './own-export.ts';

const read = (text: string) => readFiles(ownExport, sourceFiles({ 'logs.txt': text }));
const detect = (text: string) => detectProgram(sourceFiles({ 'logs.txt': text }));
const jsonOf = (...entries: unknown[]): string => JSON.stringify({ format: 'hustle-forge/1', entries });
const entry = (date: string, content: unknown = '<p>x</p>') => ({ date, content });

const TEXT = 'Friday - November 20, 2026\n--------------------------\n1. x\n\n';
const MARKDOWN = '# Friday - November 20, 2026\n\n1. x\n\n';

describe('our own export', () => {
  test.each([TEXT, MARKDOWN, `\uFEFF${TEXT}`, MARKDOWN.replaceAll('\n', '\r\n')])(
    'comes back from text and Markdown (%#)',
    async (text) => {
      expect(await detect(text)).toBe('Hustle Forge');
      const { entries, skipped } = await read(text);
      expect(skipped).toEqual([]);
      expect(entries).toEqual([
        {
          kind: 'entry',
          day: '2026-11-20',
          time: null,
          title: null,
          body: { format: 'log', text: '<ol><li><p>x</p></li></ol>', exact: false },
          source: '2026-11-20',
          pictures: 0,
          coach: null,
        },
      ]);
    },
  );

  test('comes back exactly from JSON, with its feedback', async () => {
    const coach = { hustleScore: 7, feedback: 'Good', analyzedAt: '2026-11-20T10:00:00Z' };
    const text = `\uFEFF\n ${jsonOf({ ...entry('2026-11-20', '<p>a <b>b</b></p>'), ...coach })}`;
    expect(await detect(text)).toBe('Hustle Forge');
    expect((await read(text)).entries).toMatchObject([
      { body: { format: 'log', text: '<p>a <b>b</b></p>', exact: true }, coach },
    ]);
  });

  test('names each refused day with its reason', async () => {
    const { entries, skipped } = await read(
      jsonOf(
        entry('2026-11-20'),
        entry('2026-11-20'),
        entry('2026-02-30'),
        entry('x'.repeat(1_000)),
        entry('2026-11-17', 7),
        7,
      ),
    );
    expect(entries).toHaveLength(1);
    expect(skipped.map(({ source, reason }) => [source.slice(0, 10), reason])).toEqual([
      ['2026-11-20', 'duplicateDay'],
      ['2026-02-30', 'invalidDate'],
      ['xxxxxxxxxx', 'invalidDate'],
      ['2026-11-17', 'notText'],
      ['', 'invalidDate'],
    ]);
    expect(skipped[2]!.source).toHaveLength(40);
  });

  test.each([
    ['{"format":"hustle-forge/2","entries":[1]}', 'newerVersion'],
    ['{"format":"hustle-forge/1","entries":[{', 'broken'],
  ])('reports %j as %s', async (text, reason) => {
    expect(await detect(text)).toBe('Hustle Forge');
    expect((await read(text)).skipped).toEqual([{ kind: 'skipped', source: 'logs.txt', reason }]);
  });

  test.each([
    '',
    'Dear diary',
    '{}',
    '[]',
    '{"format":"somebody-else/1","entries":[1]}',
    '# Friday the best',
    'Friday - November 20, 2026\nx',
  ])('does not claim %j', async (text) => {
    expect(await detect(text)).not.toBe('Hustle Forge');
  });
});
