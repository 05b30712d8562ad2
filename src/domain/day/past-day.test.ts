import { expect, test } from 'vitest';
import { day, dayQuestion, relativeDayLabel } from './day.ts';

const TODAY = day('2026-11-22');

test.each([
  ['2026-11-22', 'What have you done today?'],
  ['2026-11-21', 'What did you do yesterday?'],
  ['2026-11-20', 'What did you do on Friday?'],
  ['2026-11-16', 'What did you do on Monday?'],
  ['2026-11-15', 'What did you do on Sunday, November 15?'],
  ['2026-11-02', 'What did you do on Monday, November 2?'],
  ['2026-01-01', 'What did you do on Thursday, January 1?'],
  ['2025-12-31', 'What did you do on Wednesday, December 31, 2025?'],
  // A date after `today`: midnight has passed, but the page has not updated `today` yet.
  ['2026-11-23', 'What have you done today?'],
])('the placeholder of an empty log of %s is %j', (date, question) => {
  expect(dayQuestion(day(date), TODAY)).toBe(question);
});

test.each([
  ['2026-11-21', 'Yesterday'],
  ['2026-11-19', '3 days ago'],
  ['2023-01-01', '1,421 days ago'],
  ['2026-11-23', 'Tomorrow'],
  ['2026-11-25', 'In 3 days'],
])('the label of %s is %j', (date, label) => {
  expect(relativeDayLabel(day(date), TODAY)).toBe(label);
});
