/**
 * Dates as people and programs write them in headings and file names: ISO 8601 with any separator, month names in
 * many languages, and numbers in any order. `03/04/2024` alone is ambiguous, so a date has readings, and
 * `resolveDates` chooses by the other dates that were written in the same place.
 */
import { isDay, type Day } from '../day/day.ts';

type Order = 'certain' | 'dmy' | 'mdy' | 'ymd' | 'later-month';

export type WrittenDate = {
  /** The days that the text can mean; empty if the date does not exist (`2024-02-30`). */
  readings: ReadonlyMap<Order, Day>;
  /** `HH:MM:SS` if a time of day follows the date. */
  time: string | null;
  /** The text around the date without its weekday: a title, or empty. */
  rest: string;
  /** The date stands at the beginning, after at most a weekday. */
  isFirst: boolean;
  /** Almost everybody who writes dots writes the day first. */
  hasDots: boolean;
};

/** The year, and perhaps the month, of a heading or folder above a date that does not repeat them. */
export type DateContext = { year?: string | undefined; month?: string | undefined };

const LOCALES =
  'en de fr es pt it nl da sv nb fi is pl cs sk hu ro ru uk bg hr sl sr-Latn sr et lv lt tr el ca eu id ms sw af sq ar he hi';

type Names = { months: ReadonlyMap<string, ReadonlySet<number>>; weekdays: ReadonlyMap<string, ReadonlySet<number>> };
let names: Names | null = null;

const nameKey = (word: string): string => word.toLowerCase().normalize('NFC').replaceAll('.', '');

/** Month and weekday names of `LOCALES`, long and short. A name can mean two months: "listopad" is October or November. */
function knownNames(): Names {
  if (names) return names;
  const months = new Map<string, Set<number>>();
  const weekdays = new Map<string, Set<number>>();
  const add = (to: Map<string, Set<number>>, word: string, value: number): void => {
    const key = nameKey(word);
    if (/^\p{L}[\p{L}\p{M}'’-]+$/u.test(key)) to.set(key, (to.get(key) ?? new Set()).add(value));
  };
  for (const locale of LOCALES.split(' ')) {
    for (const style of ['long', 'short'] as const) {
      const alone = new Intl.DateTimeFormat(locale, { month: style, timeZone: 'UTC' });
      // Many languages inflect the month after a day: "май", but "1 мая".
      const inDate = new Intl.DateTimeFormat(locale, { day: 'numeric', month: style, timeZone: 'UTC' });
      for (let month = 1; month <= 12; month += 1) {
        const date = new Date(Date.UTC(2024, month - 1, 15));
        for (const format of [alone, inDate])
          for (const { type, value } of format.formatToParts(date)) if (type === 'month') add(months, value, month);
      }
      const weekday = new Intl.DateTimeFormat(locale, { weekday: style, timeZone: 'UTC' });
      // 2024-09-01 was a Sunday.
      for (let day = 0; day < 7; day += 1) add(weekdays, weekday.format(new Date(Date.UTC(2024, 8, 1 + day))), day);
    }
  }
  for (const [word, month] of [['sept', 9]] as const) add(months, word, month);
  for (const [word, day] of [
    ['tues', 2],
    ['weds', 3],
    ['thur', 4],
    ['thurs', 4],
  ] as const)
    add(weekdays, word, day);
  names = { months, weekdays };
  return names;
}

const WORD = String.raw`\p{L}[\p{L}\p{M}'’]*`;
const DAY_NUMBER = String.raw`(?<![\d.,:])(?<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|°|\.)?`;
const YEAR = String.raw`(?<year>\d{4})(?!\d)`;
/** "of", "de", "del", "d'" between the parts: `1 de mayo de 2024`. */
const OF = String.raw`[\s,._/-]{1,3}(?:(?:of|de|del|di|do|the)\s+|d['’])?`;

/** The letters of zones that `date` and mails write behind a time. */
const ZONE = String.raw`(?:UTC|GMT|WES?T|CES?T|ME[SD]?Z|EES?T|[BIMJ]ST|[ECMPA][SD]T|AK[SD]T|HST|A[CEW][SD]T|NZ[SD]T|SAST)(?!\w)`;
/** The time between day and year, as `date` and `ctime` write it: `Wed May  1 09:30:00 CEST 2024`. */
const CLOCK = String.raw`(?<clock>\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s[AP]M)?)(?:\s+${ZONE})?\s+`;

/** The first pattern with a reading wins. Groups: year, month (number), name (month), day; or one, two, year, short. */
const PATTERNS: readonly RegExp[] = [
  /(?<!\d)(?<year>\d{4})\s*[年년]\s*(?<month>\d{1,2})\s*[月월]\s*(?<day>\d{1,2})\s*[日일]/u,
  /(?<!\d[.,/-]?)(?<year>\d{4})(?<gap>[-_/.]|\. ?| )(?<month>\d{1,2})\k<gap>(?<day>\d{1,2})(?!\d|[./]\d)\.?/u,
  /(?<![\p{L}\d])(?<year>(?:1[89]|20)\d{2})(?<month>\d{2})(?<day>\d{2})(?=[T_]\d|[^\p{L}\d]|$|\d{4}(?!\d)|\d{6}(?!\d))/u,
  new RegExp(String.raw`${DAY_NUMBER}${OF}(?<name>${WORD})\.?${OF}${YEAR}`, 'u'),
  new RegExp(String.raw`(?<!\p{L})(?<name>${WORD})\.?${OF}(?<day>\d{1,2})(?:st|nd|rd|th)?[\s,._/-]{1,3}${YEAR}`, 'u'),
  new RegExp(String.raw`(?<!\d)${YEAR}[\s,._/-]{1,3}(?<name>${WORD})\.?[\s,._/-]{1,2}(?<day>\d{1,2})(?!\d)\.?`, 'u'),
  new RegExp(String.raw`(?<!\p{L})(?<name>${WORD})\.?\s+(?<day>\d{1,2})${CLOCK}${YEAR}`, 'u'),
  new RegExp(String.raw`${DAY_NUMBER}${OF}(?<name>${WORD})\.?${CLOCK}${YEAR}`, 'u'),
  /(?<!\d[.,/-]?)(?<one>\d{1,2})(?<gap>[-_/.]|\. ?)(?<two>\d{1,2})\k<gap>(?<year>\d{4})(?!\d|[./-]\d)/u,
  new RegExp(
    String.raw`(?<=^(?:${WORD}[.,]?\s+)?)(?<one>\d{1,2})(?<gap>[-_/.])(?<two>\d{1,2})\k<gap>(?<short>\d{2})$`,
    'u',
  ),
];
/** Only where the year is known from the place: `May 1`, `1 May`. */
const PATTERNS_WITHOUT_YEAR: readonly RegExp[] = [
  new RegExp(String.raw`${DAY_NUMBER}${OF}(?<name>${WORD})(?!\p{L})`, 'u'),
  new RegExp(String.raw`(?<!\p{L})(?<name>${WORD})\.?${OF}(?<day>\d{1,2})(?:st|nd|rd|th)?(?!\d)`, 'u'),
];

const TIME_AFTER = new RegExp(
  String.raw`^(?:(?:[\s,–—-]+(?:at|um|à|kl\.?)?\s*|T)(?<noon>오전|오후|上午|下午|午前|午後)?\s*(?<hour>\d{1,2})[:hH時](?<minute>\d{2})(?::(?<second>\d{2}))?|[T_ -]?(?<hour2>\d{2})(?<minute2>\d{2})(?<second2>\d{2})?(?!\d)|[T_](?<hour3>\d{2})-(?<minute3>\d{2})(?:-(?<second3>\d{2}))?(?!\d))(?:[^\S\n]?(?<half>[AaPp]\.?[Mm]\.?)(?!\p{L}))?(?:\s?(?:Z|[+-]\d{2}:?\d{2})(?!\w)|\s${ZONE}|\s\([A-Z]{2,5}(?:[+-]\d{1,2}(?::\d{2})?)?\))?`,
  'u',
);

const pad = (text: string): string => text.padStart(2, '0');

function timeAfter(text: string, isCompact: boolean): { time: string; length: number } | null {
  const match = TIME_AFTER.exec(text);
  const groups = match?.groups;
  // `202405010930` names a time; `2024-05-01 1200 words` does not.
  if (!match || !groups || (groups.hour2 !== undefined && !isCompact)) return null;
  let hour = Number(groups.hour ?? groups.hour2 ?? groups.hour3);
  const minute = groups.minute ?? groups.minute2 ?? groups.minute3 ?? '00';
  const second = groups.second ?? groups.second2 ?? groups.second3 ?? '00';
  const isAfternoon = /^p/i.test(groups.half ?? '') || ['오후', '下午', '午後'].includes(groups.noon ?? '');
  if (groups.half !== undefined || groups.noon !== undefined) hour = (hour % 12) + (isAfternoon ? 12 : 0);
  if (hour > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  return { time: `${pad(String(hour))}:${minute}:${second}`, length: match[0].length };
}

/** Hebrew writes "in" as a letter before the month. */
const monthsNamed = (name: string): ReadonlySet<number> | undefined =>
  knownNames().months.get(nameKey(name)) ?? knownNames().months.get(nameKey(name.replace(/^ב/, '')));

type Groups = Readonly<Record<string, string | undefined>>;

function readingsOf(groups: Groups, context: DateContext): Map<Order, Day> | null {
  const readings = new Map<Order, Day>();
  const add = (order: Order, year: string, month: string | number, day: string): void => {
    const date = `${year}-${pad(String(month))}-${pad(day)}`;
    if (isDay(date)) readings.set(order, date);
  };
  const { day = '', name, month, one, two, short, year = context.year } = groups;
  if (name !== undefined) {
    const [first, later] = monthsNamed(name) ?? [];
    if (first === undefined || year === undefined) return null;
    add('certain', year, first, day);
    if (later !== undefined) add('later-month', year, later, day);
  } else if (one !== undefined && two !== undefined) {
    const full = short === undefined ? year! : `20${short}`;
    add('dmy', full, two, one);
    add('mdy', full, one, two);
    if (short !== undefined) add('ymd', `20${pad(one)}`, two, short);
    // `45/99/2024` is no date at all.
    if (readings.size === 0) return null;
  } else add('certain', year!, month!, day);
  return readings;
}

const EDGES = /^[\s,;:.()[\]{}<>*_#~=|/\\–—-]+|[\s,;:()[\]{}<>*_#~=|/\\–—-]+$/gu;
const trimEdges = (text: string): string => text.replace(EDGES, '');

const WEEKDAY_BEFORE = new RegExp(String.raw`(?:^|[\s,;:.()[\]*_#~|–—-])(${WORD})[.,]?[\s,_-]*$`, 'u');
/** Only before punctuation or the end: "Sun was shining" keeps its sun. */
const WEEKDAY_AFTER = new RegExp(
  String.raw`^[\s,_(-]*(${WORD})(?=$|\.?\)|[^\p{L}\p{M}\d\s'’]|\s+[^\p{L}\p{M}\d\s])\.?`,
  'u',
);
const CJK_WEEKDAY =
  /^\s*[(（]?(?:[월화수목금토일]요일|星期[一二三四五六日天]|周[一二三四五六日]|[月火水木金土日]曜日?|(?<=[(（])[月火水木金土日월화수목금토](?=[)）]))[)）]?/u;

function takeWeekday(text: string, pattern: RegExp): { rest: string; weekdays: ReadonlySet<number> | null } {
  const word = pattern.exec(text);
  const weekdays = word ? knownNames().weekdays.get(nameKey(word[1]!)) : undefined;
  return weekdays ? { rest: text.replace(pattern, ' '), weekdays } : { rest: text, weekdays: null };
}

const dayOfWeek = (day: Day): number => new Date(`${day}T00:00:00Z`).getUTCDay();

/** A longer text is cut, which bounds the time of the patterns above. */
const MAX_LENGTH = 500;

/** The zeros of Arabic, Persian, Devanagari and full-width digits. */
const ZEROS = [0x6_60, 0x6_f0, 0x9_66, 0xff_10];
const asciiDigit = (digit: string): string => {
  const point = digit.codePointAt(0)!;
  return String(point - ZEROS.findLast((zero) => zero <= point)!);
};

/**
 * The date in a heading, a line or a name, with all its readings; null if it has none. Of several dates it takes
 * the one in the least ambiguous notation, not the first.
 */
export function findDate(text: string, context: DateContext = {}): WrittenDate | null {
  const source = text
    .slice(0, MAX_LENGTH)
    .normalize('NFC')
    .replace(/[٠-٩۰-۹०-९０-９]/gu, asciiDigit)
    .trim();
  for (const pattern of context.year === undefined ? PATTERNS : [...PATTERNS, ...PATTERNS_WITHOUT_YEAR]) {
    const match = pattern.exec(source);
    const readings = match?.groups ? readingsOf(match.groups, context) : null;
    if (!match?.groups || !readings) continue;
    const { month, gap } = match.groups;
    // Russian and Bulgarian write "г." for "year".
    const after = source
      .slice(match.index + match[0].length)
      .replace(/^\s?г\.(?!\p{L})/u, '')
      .replace(CJK_WEEKDAY, '');
    const time = timeAfter(after, month !== undefined && gap === undefined);
    const clock = timeAfter(match.groups['clock'] ?? '', false);
    const before = takeWeekday(source.slice(0, match.index), WEEKDAY_BEFORE);
    const behind = takeWeekday(after.slice(time?.length ?? 0), WEEKDAY_AFTER);
    const weekdays = before.weekdays ?? behind.weekdays;
    const matching = [...readings].filter(([, day]) => weekdays?.has(dayOfWeek(day)));
    const lead = trimEdges(before.rest);
    // `release 05-04-24` is a name.
    if (match.groups['short'] !== undefined && lead !== '') continue;
    return {
      readings: matching.length > 0 ? new Map(matching) : readings,
      time: time?.time ?? clock?.time ?? (behind.weekdays ? (timeAfter(behind.rest, false)?.time ?? null) : null),
      rest: [lead, trimEdges(behind.rest)].filter((part) => part !== '').join(' '),
      isFirst: lead === '',
      hasDots: gap?.startsWith('.') ?? false,
    };
  }
  return null;
}

/** A year (`2024`) or a month (`2024-05`, `May 2024`) that is a heading or a folder of its own. */
export function findContext(text: string, context: DateContext = {}): DateContext | null {
  const source = trimEdges(text.slice(0, MAX_LENGTH).normalize('NFC'));
  const numbers = /^(\d{4})(?:[-_./ ]?(\d{2}))?$/.exec(source);
  if (numbers) return { year: numbers[1], month: numbers[2] };
  if (context.year !== undefined && context.month === undefined && /^(?:0?[1-9]|1[0-2])$/.test(source))
    return { year: context.year, month: pad(source) };
  const named = new RegExp(String.raw`^(?:(\d{1,2})[\s._-]+)?(${WORD})\.?(?:[\s,._-]+(\d{4}))?$`, 'u').exec(source);
  const months = named ? knownNames().months.get(nameKey(named[2]!)) : undefined;
  const year = named?.[3] ?? context.year;
  if (!months || months.size > 1 || year === undefined) return null;
  return { year, month: pad(String([...months][0])) };
}

export type ResolvedDate = { day: Day } | { reason: 'invalidDate' | 'ambiguousDate' };

/**
 * Chooses one order of day and month for all dates of one place (the headings of a file, the names of a folder's
 * files). `isSequence`: the dates stand in the order in which they were written, as in a file. Of four or more, the
 * order of day and month that makes them ascend or descend is then the right one.
 */
export function resolveDates(dates: readonly WrittenDate[], isSequence: boolean): ResolvedDate[] {
  const numeric = dates.filter(({ readings }) => readings.size > 0 && !readings.has('certain'));
  const shared = (['dmy', 'mdy', 'ymd'] as const).filter((order) =>
    numeric.every(({ readings }) => readings.has(order)),
  );
  let order: Order | undefined = shared.length === 1 ? shared[0] : undefined;
  if (order === undefined && isSequence && numeric.length >= 4) {
    const sorted = shared.filter((candidate) => isMonotone(numeric.map(({ readings }) => readings.get(candidate)!)));
    if (sorted.length === 1) order = sorted[0];
  }
  return dates.map(({ readings, hasDots }) => {
    const days = new Set(readings.values());
    if (days.size === 0) return { reason: 'invalidDate' };
    if (days.size === 1) return { day: [...days][0]! };
    const chosen = readings.get(order ?? (hasDots ? 'dmy' : 'certain'));
    return chosen && !readings.has('later-month') ? { day: chosen } : { reason: 'ambiguousDate' };
  });
}

function isMonotone(days: readonly Day[]): boolean {
  const pairs = days.slice(1).map((day, index) => [days[index]!, day] as const);
  return pairs.every(([a, b]) => a <= b) || pairs.every(([a, b]) => a >= b);
}
