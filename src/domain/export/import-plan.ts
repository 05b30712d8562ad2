/** Compares imported days with the stored ones, so that the user can decide before anything is written. */
import type { Day } from '../day/day.ts';
import type { Version } from '../log/entry.ts';
import { entryText } from '../log/entry-text.ts';
import type { JournalDay } from '../journals/assemble-days.ts';
import { escapeHtml } from './escape-html.ts';
import type { ImportEntry } from './import-wire.ts';

/** The program of our own exports. */
export const OWN_PROGRAM = 'Hustle Forge';

/** More days are rejected. The limit is the days of more than a hundred years. */
export const IMPORT_MAX_DAYS = 40_000;

/** The current version on the server. `content` has no date header. */
export type ExistingDay = Version & { date: Day; content: string; hasFeedback: boolean };

/**
 * `feedback`: the text is the same, and only the file has feedback. `locked`: the day has a log that the plan does not
 * open, so it stays as it is.
 */
export type Verdict = 'new' | 'same' | 'feedback' | 'differs' | 'locked';
export type Choice = 'mine' | 'file' | 'both';

/** Separates the stored version and the file's version of a merged day. */
const separatorOf = (program: string): string =>
  `<h3>${program === OWN_PROGRAM ? 'From the imported file' : `From ${escapeHtml(program)}`}</h3>`;

export function compareDays(imported: JournalDay, stored: ExistingDay | undefined, program: string): Verdict {
  if (!stored) return 'new';
  const isSame = imported.exact
    ? stored.content === imported.content
    : entryText(stored.content) === entryText(imported.content);
  if (isSame) return imported.coach && !stored.hasFeedback ? 'feedback' : 'same';
  // An earlier import has merged both versions already. The server may have written the HTML in another way.
  const merged = separatorOf(program) + imported.content;
  return stored.content.endsWith(merged) || entryText(stored.content).endsWith(`\n${entryText(merged)}`)
    ? 'same'
    : 'differs';
}

/** The request item for a day; null if there is nothing to write. */
export function buildImportEntry(
  imported: JournalDay,
  stored: ExistingDay | undefined,
  verdict: Verdict,
  choice: Choice,
  program: string,
): ImportEntry | null {
  const { date, content } = imported;
  const coach = imported.coach ?? { hustleScore: null, feedback: null, analyzedAt: null };
  const replaces = stored ? { id: stored.id, revision: stored.revision } : null;
  switch (verdict) {
    case 'same':
    case 'locked':
      return null;
    case 'new':
      return { date, content, ...coach, replaces };
    case 'feedback':
      return { date, content: stored!.content, ...coach, replaces };
    case 'differs': {
      if (choice === 'mine') return null;
      if (choice === 'file') return { date, content, ...coach, replaces };
      // Feedback refers to one of the two versions, so the merged day has none.
      const noFeedback = { hustleScore: null, feedback: null, analyzedAt: null };
      return { date, content: stored!.content + separatorOf(program) + content, ...noFeedback, replaces };
    }
  }
}
