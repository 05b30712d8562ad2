import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import type { JournalDay } from './assemble-days.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import { buildImportEntry, compareDays, OWN_PROGRAM, type ExistingDay } from './import-plan.ts';

describe('an import plan', () => {
  const date = day('2026-11-20');
  const coach = { hustleScore: 7, feedback: 'Good', analyzedAt: '2026-11-20T10:00:00Z' };
  const imported: JournalDay = { date, content: '<p>a</p>', coach, exact: true, pictures: 0 };
  const byText = { ...imported, coach: null, exact: false };
  const version = { id: 'r', revision: 3 };
  const existing = (content: string, hasFeedback = false): ExistingDay => ({ date, content, ...version, hasFeedback });

  test('a day without a stored log is new', () => {
    expect(compareDays(imported, undefined, OWN_PROGRAM)).toBe('new');
    expect(buildImportEntry(imported, undefined, 'new', 'mine', OWN_PROGRAM)).toEqual({
      date,
      content: '<p>a</p>',
      ...coach,
      replaces: null,
    });
  });

  test('our JSON is compared by HTML, other files by text', () => {
    expect(compareDays(imported, existing('<p>a</p>', true), OWN_PROGRAM)).toBe('same');
    expect(compareDays(imported, existing('<h1>a</h1>', true), OWN_PROGRAM)).toBe('differs');
    expect(compareDays(byText, existing('<h1>a</h1>'), 'jrnl')).toBe('same');
    expect(buildImportEntry(imported, existing('<p>a</p>'), 'same', 'file', OWN_PROGRAM)).toBeNull();
    expect(buildImportEntry(byText, undefined, 'locked', 'file', 'jrnl')).toBeNull();
  });

  test('restores feedback for the same text, and never overwrites feedback', () => {
    expect(compareDays(imported, existing('<p>a</p>'), OWN_PROGRAM)).toBe('feedback');
    expect(buildImportEntry(imported, existing('<p>a</p>'), 'feedback', 'mine', OWN_PROGRAM)).toEqual({
      date,
      content: '<p>a</p>',
      ...coach,
      replaces: version,
    });
    expect(compareDays({ ...imported, coach: null }, existing('<p>a</p>'), OWN_PROGRAM)).toBe('same');
  });

  test.each([
    [OWN_PROGRAM, 'From the imported file'],
    ['Day One', 'From Day One'],
  ])('a different text of %s is kept, replaced or merged into a clean log', (program, heading) => {
    const mine = existing('<p>mine</p>');
    expect(compareDays(imported, mine, program)).toBe('differs');
    expect(buildImportEntry(imported, mine, 'differs', 'mine', program)).toBeNull();
    expect(buildImportEntry(imported, mine, 'differs', 'file', program)).toMatchObject({
      content: '<p>a</p>',
      feedback: 'Good',
      replaces: version,
    });
    const both = buildImportEntry(imported, mine, 'differs', 'both', program)!;
    expect(both).toMatchObject({ feedback: null, hustleScore: null, replaces: version });
    expect(isCleanLog(both.content)).toBe(true);
    expect(entryText(both.content)).toBe(`mine\n${heading}\na`);
    // A repeated import adds nothing, also if the server has written the HTML in another way.
    expect(compareDays(imported, existing(both.content), program)).toBe('same');
    expect(compareDays(byText, existing(both.content.replace('<p>a</p>', '<p><em>a</em></p>')), program)).toBe('same');
  });
});
