/** What the sandbox's model says about what it was given. Every answer begins by saying whose it is. */
import { judgeItem, scoreOf } from './judge.ts';
import type { Judged } from './judge.ts';
import { daysIn } from './read-log.ts';
import type { LogDay } from './read-log.ts';

/** So that nobody takes it for a real one. */
const SANDBOX_LABEL = 'Sandbox model:';
const QUOTED_CHARS = 48;
/** A win is copied as it stands, so it is whole; thirty of the longest are still an answer. */
const WIN_CHARS = 400;

export type Answer = {
  readonly score: number;
  /** About the day, or about the period. */
  readonly text: string;
  readonly cited: readonly string[];
  readonly missingFact: string | null;
  readonly wins: readonly { readonly date: string; readonly text: string }[];
};

export function feedbackOn(prompt: string): Answer {
  const day = daysIn(prompt).at(-1) ?? { date: null, items: [] };
  const items = day.items.map(judgeItem);
  const real = items.filter(({ toCoach }) => !toCoach);
  const best = bestOf(real);
  const weakest = real.filter(({ points }) => points < 3).reduce<Judged | null>(weaker, null);
  const missingFact = missingIn(weakest, real.length);
  const sentences = [`${SANDBOX_LABEL} ${counted(items.length, 'item')}, ${finishedOf(real)} with a finished verb.`];
  if (best !== null)
    sentences.push(`${cited(best, 'One line')} carries the day: “${quote(best.text)}” ${praise(best)}.`);
  if (weakest !== null) sentences.push(`${cited(weakest, 'Another')} says little that can be checked.`);
  if (real.length < items.length)
    sentences.push(
      `${counted(items.length - real.length, 'item')} spoke to the coach and not of the day: not counted.`,
    );
  const refs = [...new Set([best?.ref, weakest?.ref])].filter((ref) => ref != null);
  return { score: scoreOf(items), text: sentences.join(' '), cited: refs, missingFact, wins: winsOf([day]) };
}

export function reviewOf(prompt: string): Answer {
  const days = daysIn(prompt);
  const judged = days.map(({ date, items }) => ({ date, items: items.map(judgeItem) }));
  const all = judged.flatMap(({ items }) => items);
  const busiest = judged.reduce<(typeof judged)[number] | null>(
    (most, day) => (most !== null && most.items.length >= day.items.length ? most : day),
    null,
  );
  const thin = judged.filter(({ items }) => items.every(({ points }) => points < 2));
  const wins = winsOf(days);
  const counts = `${counted(days.length, 'day')} with ${counted(all.length, 'item')}, ${finishedOf(all)} with a finished verb`;
  const paragraphs = [
    `${SANDBOX_LABEL} ${counts}, from ${days[0]?.date ?? 'no day'} to ${days.at(-1)?.date ?? 'no day'}.`,
  ];
  if (busiest !== null)
    paragraphs.push(`Most was written on ${busiest.date}: ${counted(busiest.items.length, 'item')}.`);
  paragraphs.push(
    thin.length === 0
      ? 'Every day holds at least one thing that can be checked.'
      : `${counted(thin.length, 'day')} without anything that can be checked, such as ${thin[0]!.date}: name what was finished, and how much it was.`,
  );
  if (wins.length > 0) paragraphs.push(`**Wins**\n${wins.map((win) => `- ${win.date}: ${win.text}`).join('\n')}`);
  return { score: scoreOf(all), text: paragraphs.join('\n\n'), cited: [], missingFact: null, wins };
}

/** What has no name in the prompt cannot be cited. */
const cited = ({ ref }: Judged, otherwise: string): string => (ref === null ? otherwise : `[${ref}]`);

const weaker = (least: Judged | null, item: Judged): Judged =>
  least !== null && least.points <= item.points ? least : item;

const bestOf = (items: readonly Judged[]): Judged | null =>
  items.reduce<Judged | null>((best, item) => {
    const least = best?.points ?? 0;
    return item.points > least ? item : best;
  }, null);

const winsOf = (days: readonly LogDay[]): Answer['wins'] =>
  days.flatMap(({ date, items }) => {
    const best = bestOf(items.map(judgeItem));
    return date === null || best === null || best.points < 2 ? [] : [{ date, text: quote(best.text, WIN_CHARS) }];
  });

const finishedOf = (items: readonly Judged[]): number => items.filter(({ finished }) => finished).length;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function praise({ finished, counted: hasNumber }: Judged): string {
  if (finished && hasNumber) return 'is finished and names a number';
  if (finished) return 'is finished';
  return hasNumber ? 'names a number' : 'says what it was about';
}

function missingIn(weakest: Judged | null, count: number): string | null {
  if (count === 0) return 'one thing that was finished, and what came of it';
  if (weakest === null) return null;
  const { finished, counted: hasNumber } = weakest;
  const which = cited(weakest, 'one line');
  if (!finished) return `how ${which} ended`;
  return hasNumber ? `what exactly was done in ${which}` : `how much or how many it was in ${which}`;
}

/** In one line, and without what a reader of Markdown would take for more than words. */
function quote(text: string, longest = QUOTED_CHARS): string {
  const plain = text.replaceAll(/[\s<>[\]()*_`#|!"“”]+/gu, ' ').trim();
  const signs = Array.from(plain);
  if (signs.length <= longest) return plain;
  // At the end of a word, where the language has blanks between them.
  const cut = signs.slice(0, longest + 1).join('');
  return `${cut.replace(/ \S*$/, '')}…`;
}
