import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import type { Day } from '../day/day.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import type { ImportedDay } from './exported-entry.ts';
import { buildImportEntry, compareDays, FILE_PROBLEMS } from './import-plan.ts';
import type { ExistingDay, ImportedFile } from './import-plan.ts';
import { parseExportFile, UnreadableFileError } from './read-file.ts';

const TODAY = day('2026-11-21');

function read(text: string, today: Day = TODAY): ImportedFile {
  const reading = parseExportFile(text, today);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

function problemOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof UnreadableFileError) return error.problem;
    throw error;
  }
  return 'none';
}

const jsonOf = (...entries: unknown[]): string => JSON.stringify({ format: 'hustle-forge/1', entries });
const entry = (date: string, content: unknown = '<p>x</p>') => ({ date, content });

describe('parseExportFile', () => {
  test('detects the format by the content', () => {
    const text = 'Friday - November 20, 2026\n--------------------------\n1. x\n\n';
    const markdown = '# Friday - November 20, 2026\n\n1. x\n\n';
    for (const file of [text, markdown, `\uFEFF${text}`, markdown.replaceAll('\n', '\r\n')]) {
      expect(read(file)).toEqual({
        exact: false,
        days: [{ date: '2026-11-20', content: '<ol><li><p>x</p></li></ol>', coach: null }],
        refused: [],
      });
    }
    expect(read(`\uFEFF\n ${jsonOf(entry('2026-11-20'))}`)).toMatchObject({
      exact: true,
      days: [{ content: '<p>x</p>' }],
    });
  });

  test.each([
    ['', 'notRecognised'],
    ['Dear diary', 'notRecognised'],
    ['<html></html>', 'notRecognised'],
    ['{', 'broken'],
    ['[1, 2', 'broken'],
    ['{}', 'notRecognised'],
    ['[]', 'notRecognised'],
    ['{"format":"hustle-forge/1"}', 'notRecognised'],
    ['{"format":"hustle-forge/1","entries":{}}', 'notRecognised'],
    ['{"format":"hustle-forge/1","entries":[]}', 'notRecognised'],
    ['{"format":"hustle-forge/2","entries":[1]}', 'wrongVersion'],
    ['{"format":"somebody-else/1","entries":[1]}', 'notRecognised'],
    ['{"__proto__":{"format":"hustle-forge/1","entries":[1]}}', 'notRecognised'],
    [jsonOf(...Array.from({ length: 100_000 }, () => 1)), 'tooManyDays'],
    ['Friday - November 20, 2026\n---\nx\n\n'.repeat(40_001), 'tooManyDays'],
  ])('rejects the whole file (%#)', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test('rejects an HTML export and names the supported formats', () => {
    expect(problemOf('<!doctype html>\n<html lang="en"><title>Hustle Forge: all logs</title></html>')).toBe(
      'notRecognised',
    );
    expect(FILE_PROBLEMS.notRecognised).toContain('JSON, Markdown or plain text file');
  });

  test('returns the valid days and a reason for each refused day', () => {
    const { days, refused } = read(
      jsonOf(
        entry('2026-11-20'),
        entry('2026-11-20', '<p>again</p>'),
        entry('2026-11-22'),
        entry('2026-02-30'),
        entry('x'.repeat(1_000)),
        entry('2026-11-19', '<p></p>'),
        entry('2026-11-18', `<p>${'日'.repeat(90_000)}</p>`),
        entry('2026-11-17', 7),
        7,
        entry('2026-11-16', '<script>alert(1)</script>'),
      ),
    );
    // The server's sanitizer removes the script; the browser never renders the file's HTML.
    expect(days.map((one) => one.date)).toEqual(['2026-11-20', '2026-11-16']);
    expect(refused.map(({ reason }) => reason)).toEqual([
      ...['duplicateDay', 'futureDay', 'invalidDate', 'invalidDate', 'empty', 'tooLong', 'notText', 'invalidDate'],
    ]);
    expect(refused[3]!.label).toHaveLength(40);
  });

  test('refuses a day that has started only in time zones further east', () => {
    expect(read(jsonOf(entry('2026-11-21')), day('2026-11-20')).refused).toMatchObject([{ reason: 'futureDay' }]);
  });
});

describe('an import plan', () => {
  const date = day('2026-11-20');
  const coach = { hustleScore: 7, feedback: 'Good', analyzedAt: '2026-11-20T10:00:00Z' };
  const imported: ImportedDay = { date, content: '<p>a</p>', coach };
  const version = { id: 'r', revision: 3 };
  const existing = (content: string, hasFeedback = false): ExistingDay => ({ date, content, ...version, hasFeedback });

  test('a day without a stored log is new', () => {
    expect(compareDays(imported, undefined, true)).toBe('new');
    expect(buildImportEntry(imported, undefined, 'new', 'mine')).toEqual({
      date,
      content: '<p>a</p>',
      ...coach,
      replaces: null,
    });
  });

  test('JSON is compared by HTML, other formats by text', () => {
    expect(compareDays(imported, existing('<p>a</p>', true), true)).toBe('same');
    expect(compareDays(imported, existing('<h1>a</h1>', true), true)).toBe('differs');
    expect(compareDays({ ...imported, coach: null }, existing('<h1>a</h1>'), false)).toBe('same');
    expect(buildImportEntry(imported, existing('<p>a</p>'), 'same', 'file')).toBeNull();
  });

  test('restores feedback for the same text, and never overwrites feedback', () => {
    expect(compareDays(imported, existing('<p>a</p>'), true)).toBe('feedback');
    expect(buildImportEntry(imported, existing('<p>a</p>'), 'feedback', 'mine')).toEqual({
      date,
      content: '<p>a</p>',
      ...coach,
      replaces: version,
    });
    expect(compareDays({ ...imported, coach: null }, existing('<p>a</p>'), true)).toBe('same');
  });

  test('a different text is kept, replaced or merged into a clean log', () => {
    const mine = existing('<p>mine</p>');
    expect(compareDays(imported, mine, true)).toBe('differs');
    expect(buildImportEntry(imported, mine, 'differs', 'mine')).toBeNull();
    expect(buildImportEntry(imported, mine, 'differs', 'file')).toMatchObject({
      content: '<p>a</p>',
      feedback: 'Good',
      replaces: version,
    });
    const both = buildImportEntry(imported, mine, 'differs', 'both')!;
    expect(both).toMatchObject({ feedback: null, hustleScore: null, replaces: version });
    expect(isCleanLog(both.content)).toBe(true);
    expect(entryText(both.content)).toBe('mine\nFrom the imported file\na');
    // A repeated import adds nothing.
    expect(compareDays(imported, existing(both.content), true)).toBe('same');
  });
});
