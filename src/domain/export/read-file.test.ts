import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import type { Day } from '../day/day.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import type { ImportedDay } from './exported-entry.ts';
import { entryFor, FILE_PROBLEMS, verdictOf } from './import-plan.ts';
import type { ImportedFile, OwnDay } from './import-plan.ts';
import { readFile, UnreadableFile } from './read-file.ts';

const TODAY = day('2026-11-21');

function read(text: string, today: Day = TODAY): ImportedFile {
  const reading = readFile(text, today);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

function problemOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof UnreadableFile) return error.problem;
    throw error;
  }
  return 'none';
}

const jsonOf = (...entries: unknown[]): string => JSON.stringify({ format: 'hustle-forge/1', entries });
const entry = (date: string, content: unknown = '<p>x</p>') => ({ date, content });

describe('a file', () => {
  test('is known by what is in it, not by its name', () => {
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
  ])('file %# is refused as a whole', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test('our own HTML file is not read back, and whoever brings it is told which files are', () => {
    expect(problemOf('<!doctype html>\n<html lang="en"><title>Hustle Forge: all logs</title></html>')).toBe(
      'notRecognised',
    );
    expect(FILE_PROBLEMS.notRecognised).toContain('JSON, Markdown or plain text file');
  });

  test('gives the days that it holds, and a reason for each that cannot be taken', () => {
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
    // What is in a script the server takes away: the browser paints nothing of the file.
    expect(days.map((one) => one.date)).toEqual(['2026-11-20', '2026-11-16']);
    expect(refused.map(({ reason }) => reason)).toEqual([
      ...['duplicateDay', 'futureDay', 'invalidDate', 'invalidDate', 'empty', 'tooLong', 'notText', 'invalidDate'],
    ]);
    expect(refused[3]!.label).toHaveLength(40);
  });

  test('a day that has only begun further east is still to come', () => {
    expect(read(jsonOf(entry('2026-11-21')), day('2026-11-20')).refused).toMatchObject([{ reason: 'futureDay' }]);
  });
});

describe('what an import would do', () => {
  const date = day('2026-11-20');
  const coach = { hustleScore: 7, feedback: 'Good', analyzedAt: '2026-11-20T10:00:00Z' };
  const inFile: ImportedDay = { date, content: '<p>a</p>', coach };
  const version = { id: 'r', revision: 3 };
  const own = (content: string, hasFeedback = false): OwnDay => ({ date, content, ...version, hasFeedback });

  test('a day without a log is new', () => {
    expect(verdictOf(inFile, undefined, true)).toBe('new');
    expect(entryFor(inFile, undefined, 'new', 'mine')).toEqual({ date, content: '<p>a</p>', ...coach, replaces: null });
  });

  test('the same words: by letter and tag from JSON, by text from the other formats', () => {
    expect(verdictOf(inFile, own('<p>a</p>', true), true)).toBe('same');
    expect(verdictOf(inFile, own('<h1>a</h1>', true), true)).toBe('differs');
    expect(verdictOf({ ...inFile, coach: null }, own('<h1>a</h1>'), false)).toBe('same');
    expect(entryFor(inFile, own('<p>a</p>'), 'same', 'file')).toBeNull();
  });

  test('brings feedback back where the words are the same and none is kept, and overwrites none', () => {
    expect(verdictOf(inFile, own('<p>a</p>'), true)).toBe('feedback');
    expect(entryFor(inFile, own('<p>a</p>'), 'feedback', 'mine')).toEqual({
      date,
      content: '<p>a</p>',
      ...coach,
      replaces: version,
    });
    expect(verdictOf({ ...inFile, coach: null }, own('<p>a</p>'), true)).toBe('same');
  });

  test('other words: nothing, the file’s, or both, of which the editor knows the part between', () => {
    const mine = own('<p>mine</p>');
    expect(verdictOf(inFile, mine, true)).toBe('differs');
    expect(entryFor(inFile, mine, 'differs', 'mine')).toBeNull();
    expect(entryFor(inFile, mine, 'differs', 'file')).toMatchObject({
      content: '<p>a</p>',
      feedback: 'Good',
      replaces: version,
    });
    const both = entryFor(inFile, mine, 'differs', 'both')!;
    expect(both).toMatchObject({ feedback: null, hustleScore: null, replaces: version });
    expect(isCleanLog(both.content)).toBe(true);
    expect(entryText(both.content)).toBe('mine\nFrom the imported file\na');
    // The same file once more adds nothing.
    expect(verdictOf(inFile, own(both.content), true)).toBe('same');
  });
});
