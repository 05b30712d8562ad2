/** Composes the simulated model's feedback and reviews. */
import { scoreItem, scoreDay, type ScoredItem } from './score-items.ts';
import { parseDays, type LogDay } from './parse-log.ts';

/** Begins every answer, so that no reader mistakes it for a real model's. */
const SANDBOX_LABEL = 'Sandbox model:';
const MAX_QUOTE_CHARS = 48;
/** Wins are quoted in full up to this length. Thirty of them still fit into one answer. */
const MAX_WIN_CHARS = 400;

export type Answer = {
  readonly score: number;
  /** The feedback on a day, or the review of a period. */
  readonly text: string;
  readonly cited: readonly string[];
  readonly missingFact: string | null;
  readonly wins: readonly { readonly date: string; readonly text: string }[];
};

export function composeFeedback(prompt: string): Answer {
  const day = parseDays(prompt).at(-1) ?? { date: null, items: [] };
  const items = day.items.map(scoreItem);
  const real = items.filter(({ toCoach }) => !toCoach);
  const best = findBestItem(real);
  const weakest = real.filter(({ points }) => points < 3).reduce<ScoredItem | null>(pickWeaker, null);
  const missingFact = describeMissingFact(weakest, real.length);
  const sentences = [
    `${SANDBOX_LABEL} ${pluralize(items.length, 'item')}, ${countFinished(real)} with a finished verb.`,
  ];
  if (best !== null)
    sentences.push(`${citeOr(best, 'One line')} carries the day: “${quote(best.text)}” ${describeStrength(best)}.`);
  if (weakest !== null) sentences.push(`${citeOr(weakest, 'Another')} says little that can be checked.`);
  if (real.length < items.length)
    sentences.push(
      `${pluralize(items.length - real.length, 'item')} addressed the coach instead of describing the day: not counted.`,
    );
  const refs = [...new Set([best?.ref, weakest?.ref])].filter((ref) => ref != null);
  return { score: scoreDay(items), text: sentences.join(' '), cited: refs, missingFact, wins: collectWins([day]) };
}

export function composeReview(prompt: string): Answer {
  const days = parseDays(prompt);
  const scoredDays = days.map(({ date, items }) => ({ date, items: items.map(scoreItem) }));
  const all = scoredDays.flatMap(({ items }) => items);
  const busiest = scoredDays.reduce<(typeof scoredDays)[number] | null>(
    (most, day) => (most !== null && most.items.length >= day.items.length ? most : day),
    null,
  );
  const thin = scoredDays.filter(({ items }) => items.every(({ points }) => points < 2));
  const wins = collectWins(days);
  const counts = `${pluralize(days.length, 'day')} with ${pluralize(all.length, 'item')}, ${countFinished(all)} with a finished verb`;
  const paragraphs = [
    `${SANDBOX_LABEL} ${counts}, from ${days[0]?.date ?? 'no day'} to ${days.at(-1)?.date ?? 'no day'}.`,
  ];
  if (busiest !== null)
    paragraphs.push(`Most was written on ${busiest.date}: ${pluralize(busiest.items.length, 'item')}.`);
  paragraphs.push(
    thin.length === 0
      ? 'Every day holds at least one thing that can be checked.'
      : `${pluralize(thin.length, 'day')} without anything that can be checked, such as ${thin[0]!.date}: name what was finished, and how much it was.`,
  );
  if (wins.length > 0) paragraphs.push(`**Wins**\n${wins.map((win) => `- ${win.date}: ${win.text}`).join('\n')}`);
  return { score: scoreDay(all), text: paragraphs.join('\n\n'), cited: [], missingFact: null, wins };
}

/** Cites the item, or returns `fallback` for an item without a `ref`. */
const citeOr = ({ ref }: ScoredItem, fallback: string): string => (ref === null ? fallback : `[${ref}]`);

const pickWeaker = (least: ScoredItem | null, item: ScoredItem): ScoredItem =>
  least !== null && least.points <= item.points ? least : item;

const findBestItem = (items: readonly ScoredItem[]): ScoredItem | null =>
  items.reduce<ScoredItem | null>((best, item) => {
    const least = best?.points ?? 0;
    return item.points > least ? item : best;
  }, null);

const collectWins = (days: readonly LogDay[]): Answer['wins'] =>
  days.flatMap(({ date, items }) => {
    const best = findBestItem(items.map(scoreItem));
    return date === null || best === null || best.points < 2 ? [] : [{ date, text: quote(best.text, MAX_WIN_CHARS) }];
  });

const countFinished = (items: readonly ScoredItem[]): number => items.filter(({ finished }) => finished).length;

const pluralize = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function describeStrength({ finished, counted: hasNumber }: ScoredItem): string {
  if (finished && hasNumber) return 'is finished and names a number';
  if (finished) return 'is finished';
  return hasNumber ? 'names a number' : 'says what it was about';
}

function describeMissingFact(weakest: ScoredItem | null, count: number): string | null {
  if (count === 0) return 'one thing that was finished, and what came of it';
  if (weakest === null) return null;
  const { finished, counted: hasNumber } = weakest;
  const which = citeOr(weakest, 'one line');
  if (!finished) return `how ${which} ended`;
  return hasNumber ? `what exactly was done in ${which}` : `how much or how many it was in ${which}`;
}

/** Collapses the text to one line, removes Markdown characters and truncates at a word boundary. */
function quote(text: string, maxChars = MAX_QUOTE_CHARS): string {
  const plain = text.replaceAll(/[\s<>[\]()*_`#|!"“”]+/gu, ' ').trim();
  const characters = Array.from(plain);
  if (characters.length <= maxChars) return plain;
  // Text without spaces has no word boundary, so it is cut in the middle.
  const truncated = characters.slice(0, maxChars + 1).join('');
  return `${truncated.replace(/ \S*$/, '')}…`;
}
