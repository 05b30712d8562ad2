/**
 * The questions of the day: the optional placeholder of today's empty page from noon on, also asked by the reminder
 * (docs/specification/time-off.md 3). One line of a log can answer each.
 */
import { daysBetween, FIRST_DAY, type Day } from '../day/day.ts';

export const PROMPTS = [
  'What is done now that was not this morning?',
  'What did you put off, and then do anyway?',
  'What would you show your manager from today?',
  'Which decision did you make, and why?',
  'What got in your way, and what did you do about it?',
  'Who did you help, and with what?',
  'What did you learn that you will need again?',
  'What took longer than it should have?',
  'Which number changed because of you today?',
  'What did you say no to, so that something got finished?',
] as const;

/** Deterministic: a day always has the same question, and the next day another one. */
export const promptOf = (date: Day): string => PROMPTS[daysBetween(FIRST_DAY, date) % PROMPTS.length]!;
