/** Composes the simulated model's feedback and reviews. */
import { parseDays, parseMonths, type LogDay, type Item, type MonthSummary } from './parse-log.ts';

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

/** `October 2026` of `2026-10`. */
const monthName = (month: string): string =>
  new Date(`${month}-01T00:00Z`).toLocaleDateString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A line of the wins in a summary. */
const WIN = /^- (\d{4}-\d{2}-\d{2}): (.+)$/gmu;
/** A prompt asks for ten wins at most. */
const MAX_WINS = 10;

/** The review of months, whose summaries this model has written. The longest win of each month stands for it. */
function composeLongReview(months: readonly MonthSummary[]): Answer {
  const wins = months
    .map(({ summary }) => [...summary.matchAll(WIN)].map(([, date, text]) => ({ date: date!, text: text! })))
    .flatMap((ofMonth) => ofMonth.sort((a, b) => b.text.length - a.text.length).slice(0, 1))
    .slice(-MAX_WINS);
  const paragraphs = [
    `${SANDBOX_LABEL} ${pluralize(months.length, 'month')} summarized, from ${monthName(months[0]!.month)} to ${monthName(months.at(-1)!.month)}.`,
    'Every month was read on its own before this review of all of them.',
  ];
  if (wins.length > 0) paragraphs.push(`**Wins**\n${wins.map((win) => `- ${win.date}: ${win.text}`).join('\n')}`);
  return { score: 5, text: paragraphs.join('\n\n'), cited: [], missingFact: null, wins };
}

export function composeReview(prompt: string): Answer {
  const months = parseMonths(prompt);
  if (months.length > 0) return composeLongReview(months);
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

/** Collapses the text to one line, removes Markdown characters, except those of a tag, and truncates at a word boundary. */
function quote(text: string, maxChars = MAX_QUOTE_CHARS): string {
  const plain = text.replaceAll(/(?:[\s<>[\]()*_`|!"“”]|#(?!\p{L}))+/gu, ' ').trim();
  const characters = Array.from(plain);
  if (characters.length <= maxChars) return plain;
  // Text without spaces has no word boundary, so it is cut in the middle.
  const truncated = characters.slice(0, maxChars + 1).join('');
  return `${truncated.replace(/ \S*$/, '')}…`;
}

export type ScoredItem = Item & {
  readonly finished: boolean;
  readonly counted: boolean;
  readonly detailed: boolean;
  readonly vague: boolean;
  /** Addresses the coach instead of describing the day (prompt injection): worth no points. */
  readonly toCoach: boolean;
  /** 0 to 3. */
  readonly points: number;
};

/** An item is detailed if it has this many letters, or this many Chinese or Japanese characters. */
const MIN_DETAILED_LETTERS = 22;
const MIN_DETAILED_CJK_CHARS = 9;
/** The scale of the score's saturating curve: a day with this many points scores 7. */
const POINTS_OF_GOOD_DAY = 7;

const wordPattern = (alternatives: string): RegExp => new RegExp(`(?<!\\p{L})(?:${alternatives})(?!\\p{L})`, 'iu');

const UNFINISHED = wordPattern(
  'tried|wanted|planned|needed|hoped|started|bored|tired|relaxed|scrolled|procrastinated|distracted|worked|talked|' +
    'crushed|dominated|smashed|destroyed|slayed|killed|watched|waited|thought|looked|opened|amazed|loved|slept|read',
);
const FINISHED: readonly RegExp[] = [
  wordPattern(
    '\\p{L}{2,}ed|wrote|sent|sold|built|made|ran|taught|paid|met|cut|gave|took|won|drove|hung|laid|found|done|' +
      'got|set|put|told|swam|drew|bought|brought|kept|held|led|left|spoke',
  ),
  // German and Dutch; Spanish and Portuguese; French; Turkish; Japanese and Chinese; Arabic and Hindi.
  wordPattern('ge\\p{L}{2,}(?:t|en|d)|\\p{L}+(?:iert|geschickt|geschlossen|gegeben|schrieben|kauft|räumt)|fertig'),
  wordPattern('\\p{L}{2,}(?:é|í|ó|amos|imos)|hice|hizo|he\\s\\p{L}+(?:ado|ido|to)'),
  wordPattern("(?:j'ai|ai|avons|a)\\s\\p{L}+(?:é|i|u|is|it|ert)"),
  wordPattern('\\p{L}+(?:d[ıiuü]m|t[ıiuü]m|d[ıiuü]k|t[ıiuü]k)'),
  /した|った|えた|完了|終わ|了|完成|写完|做完|交付/u,
  wordPattern(
    '\\p{L}{2,}(?:ت|تُ)|तैयार|(?:\\p{L}|\\p{M})*(?:किया|की|किए|दिया|दी|लिया|लिखा|लिखी|भेजा|भेजे|बनाया|सिखाया|पूरा|पूरी)',
  ),
];
const COUNTED =
  /\p{Nd}|[二三四五六七八九十百]|(?<!\p{L})(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|dozen)(?!\p{L})/iu;
const VAGUE = wordPattern(
  'stuff|things?|something|some|whatever|etc|various|kind of|sort of|basically|a lot|lots|busy|productive|grind(?:ed|ing)?|' +
    'hustl\\p{L}*|legend|beast|king|unstoppable|genius|best|amazing|crush\\p{L}*|cosas|algo|irgendwas|sachen|zeug|trucs?',
);
/** Patterns of text that addresses the coach. */
const TO_COACH: readonly RegExp[] = [
  /hustle\s*score|"?score"?\s*[:=]|(?<!\p{L})(?:scored?|scores|mark)(?!\p{L}).{0,24}(?:\p{Nd}|reversed)/iu,
  /\b\d{1,2}\s*(?:\/|out of|von|sur|de)\s*10\b|[0-9１-９]{1,2}\s*分/iu,
  /ignor|disregard|overrid|forget (?:all|your|the)|vergiss|olvida|oublie|無視|忽略|忽视|تجاهل|अनदेखा|yok say|negeer/iu,
  /(?:^|[[<({"'`\s])(?:system|assistant|developer|admin)\s*(?:[\]>)}:"]|prompt|message|mode)/iu,
  /you are (?:now|a|an|no longer|[A-Z]{3,})|pretend|jailbreak|let us play/iu,
  /(?<!\p{L})(?:coach|the model|dear ai|your feedback|the feedback|new instruction|your instructions|as you were told|up to date|every item)(?!\p{L})/iu,
  /^\W*missing ?fact\W*:/iu,
  /^"?(?:feedback|cited)"?\s*:|^[{}[\]]+,?$|^FENCE\s/u,
  /[A-Za-z0-9+/]{40,}/u,
];

const NOTHING_DONE = wordPattern('nothing (?:was |is )?(?:done|finished)|did nothing|no result|nichts|nada|rien|niets');

/** Simple rules and no language model: they only make different logs receive different answers. */
function scoreItem(item: Item): ScoredItem {
  const { text } = item;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const cjkChars = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const toCoach = TO_COACH.some((pattern) => pattern.test(text));
  const finished =
    !NOTHING_DONE.test(text) && FINISHED.some((verb) => verb.test(text.replaceAll(new RegExp(UNFINISHED, 'giu'), ' ')));
  const counted = COUNTED.test(text);
  const detailed = letters >= MIN_DETAILED_LETTERS || cjkChars >= MIN_DETAILED_CJK_CHARS;
  const vague = VAGUE.test(text);
  // Without a finished verb, a number and detail together earn one point.
  const fullPoints = finished ? 1 + Number(counted) + Number(detailed) : Number(counted && detailed);
  const points = toCoach ? 0 : Math.max(0, fullPoints - Number(vague));
  return { ...item, finished, counted, detailed, vague, toCoach, points };
}

/** Returns a score from 1 to 10. */
function scoreDay(items: readonly ScoredItem[]): number {
  const points = items.reduce((sum, item) => sum + item.points, 0);
  return 1 + Math.round(9 * (1 - Math.exp(-points / POINTS_OF_GOOD_DAY)));
}
