/**
 * What it means to find words in a log. Every word must be there; the last one may be only begun, because people search
 * while they type. Case and accents do not count. Scripts written without spaces are found anywhere in a run of them.
 *
 * A log is compared in a form of its own (`findForm`), which the server keeps beside it and makes anew when the log has
 * changed. Whoever changes a rule here must also empty `entry_words` in a migration, or old forms stay.
 */

/** More would be a text to compare and not a search; what is beyond is not looked at. */
export const QUERY_MAX_LENGTH = 200;
export const QUERY_MAX_WORDS = 8;
/** The newest so many days are answered. */
export const FIND_MAX_RESULTS = 50;

/**
 * Marks above and below letters in Latin, Greek, Cyrillic, Hebrew and Arabic, and signs that nobody sees. Not every
 * `\p{M}`: in Thai, Devanagari and kana the marks tell one word from another.
 */
const UNHEARD = new RegExp(
  `[${[
    String.raw`\u{300}-\u{36f}\u{1ab0}-\u{1aff}\u{1dc0}-\u{1dff}\u{20d0}-\u{20ff}\u{483}-\u{487}`,
    String.raw`\u{591}-\u{5bd}\u{5bf}\u{5c1}\u{5c2}\u{5c4}\u{5c5}\u{5c7}`,
    String.raw`\u{64b}-\u{65f}\u{670}\u{6d6}-\u{6dc}`,
    String.raw`\u{ad}\u{200b}-\u{200f}\u{2060}\u{fe00}-\u{fe0f}\u{feff}`,
  ].join('')}]+`,
  'gu',
);

/** Letters that Unicode does not take apart, and people type as these. Turkish has two letters i: both are found by either. */
const TYPED_AS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ø: 'o', ł: 'l' },
  ...{ đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' },
};
const SPECIAL = new RegExp(`[${Object.keys(TYPED_AS).join('')}]`, 'g');

/**
 * Threat: putting a long pile of marks in order takes the square of its length; 128,000 of them kept the server from
 * answering anybody for a minute. Unicode's stream-safe text has 30 at most. The two half-width kana signs become marks.
 */
const PILED_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

const ASCII = /^[\0-\x7f]*$/;

function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(UNHEARD, '')
    .replace(PILED_MARKS, '$1')
    .normalize('NFKD')
    .toLowerCase()
    .replace(UNHEARD, '')
    .replace(SPECIAL, (letter) => TYPED_AS[letter]!)
    .normalize('NFC');
}

/** Han, kana, Thai and the like, and pictures: they stand side by side without spaces. */
const UNSPACED = String.raw`(?=[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{Extended_Pictographic}])[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]`;
/** A run of those, or a word: letters and digits up to the next space, sign or run. */
const PIECE = new RegExp(String.raw`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}])+`, 'gu');
const ASCII_PIECE = /[0-9a-z]+/g;
const BEGINS_UNSPACED = new RegExp(String.raw`^${UNSPACED}`, 'u');

const piecesOf = (folded: string): string[] => folded.match(ASCII.test(folded) ? ASCII_PIECE : PIECE) ?? [];

/**
 * The words of a text between spaces, each once: a word begins where it follows a space. NUL and half characters, which
 * PostgreSQL does not take, are no letters and so never in it.
 */
export const findForm = (text: string): string => ` ${[...new Set(piecesOf(fold(text)))].join(' ')} `;

export type SoughtWord = { text: string; match: 'whole' | 'begun' | 'anywhere' };

/** The words of what somebody typed; none where it holds no letter and no digit. */
export function soughtWords(query: string): SoughtWord[] {
  const pieces = piecesOf(fold(query.slice(0, QUERY_MAX_LENGTH))).slice(0, QUERY_MAX_WORDS);
  return pieces.map((text, index) => {
    if (BEGINS_UNSPACED.test(text)) return { text, match: 'anywhere' };
    return { text, match: index === pieces.length - 1 ? 'begun' : 'whole' };
  });
}

/** What must stand in the `findForm` of a log that has the word. */
export function formOf({ text, match }: SoughtWord): string {
  if (match === 'anywhere') return text;
  return match === 'begun' ? ` ${text}` : ` ${text} `;
}

/** A part of a text, and whether it is one of the words sought. */
export type TextPart = { text: string; marked: boolean };

const PIECE_AS_WRITTEN = new RegExp(
  String.raw`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}\u00ad\u200b-\u200f\u2060\ufeff])+`,
  'gu',
);

type Span = { from: number; to: number };

/** Where the words stand in a text as it was written, in order and without overlap; a word that is only begun counts whole. */
export function placesOf(words: readonly SoughtWord[], text: string): Span[] {
  const spaced = words.filter(({ match }) => match !== 'anywhere');
  const unspaced = words.filter(({ match }) => match === 'anywhere');
  const places: Span[] = [];
  for (const { 0: piece, index } of text.matchAll(PIECE_AS_WRITTEN)) {
    if (BEGINS_UNSPACED.test(piece)) {
      if (unspaced.length > 0) places.push(...placesInRun(unspaced, piece, index));
      continue;
    }
    const parts = piecesOf(fold(piece));
    if (
      parts.some((part) =>
        spaced.some((word) => (word.match === 'whole' ? part === word.text : part.startsWith(word.text))),
      )
    ) {
      places.push({ from: index, to: index + piece.length });
    }
  }
  return places;
}

/** A folded character may be longer or shorter than the written one, so each remembers where it came from. */
function placesInRun(words: readonly SoughtWord[], run: string, start: number): Span[] {
  const origin: Span[] = [];
  let folded = '';
  let at = start;
  for (const character of run) {
    const form = fold(character);
    const span = { from: at, to: at + character.length };
    for (let unit = 0; unit < form.length; unit += 1) origin.push(span);
    folded += form;
    at += character.length;
  }
  const found: Span[] = [];
  for (const { text } of words) {
    for (let from = folded.indexOf(text); from !== -1; from = folded.indexOf(text, from + text.length)) {
      found.push({ from: origin[from]!.from, to: origin[from + text.length - 1]!.to });
    }
  }
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  return found.filter((span, index) => index === 0 || span.from >= found[index - 1]!.to);
}

const SNIPPET_LENGTH = 160;
/** What is shown before the first word found. */
const SNIPPET_LEAD = 40;

/** A line or two of a log around the first word found, in parts; a line's end is shown as a dot. */
export function snippetOf(words: readonly SoughtWord[], text: string): TextPart[] {
  const places = placesOf(words, text);
  const first = places[0]?.from ?? 0;
  const from = first <= SNIPPET_LEAD ? 0 : wordBefore(text, first - SNIPPET_LEAD, first);
  const to = from + SNIPPET_LENGTH >= text.length ? text.length : wordAfter(text, from + SNIPPET_LENGTH);
  const parts: TextPart[] = [];
  const add = (start: number, end: number, marked: boolean): void => {
    if (end > start) parts.push({ text: inOneLine(text.slice(start, end)), marked });
  };
  let at = from;
  for (const place of places) {
    if (place.from >= to) break;
    add(at, place.from, false);
    add(place.from, Math.min(place.to, to), true);
    at = Math.min(place.to, to);
  }
  add(at, to, false);
  if (from > 0) parts.unshift({ text: '… ', marked: false });
  if (to < text.length) parts.push({ text: ' …', marked: false });
  return parts;
}

const inOneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' · ').replace(/\s+/g, ' ');

/** The first beginning of a word at or after `at`, but not after `limit`; never between the halves of a character. */
function wordBefore(text: string, at: number, limit: number): number {
  const space = /\s/.exec(text.slice(at, limit));
  return space ? at + space.index + 1 : wholeCharacter(text, at);
}

function wordAfter(text: string, at: number): number {
  const back = /\s\S{0,20}$/.exec(text.slice(at - 21, at));
  return back ? at - back[0].length : wholeCharacter(text, at);
}

const wholeCharacter = (text: string, at: number): number => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
};

/** What the function `find-entries` answers. */
export type FoundDay = { date: string; snippet: TextPart[] };
export type FindAnswer =
  | {
      success: true;
      results: FoundDay[];
      /** There are older days with these words; the newest are answered. */
      more: boolean;
      /** False while old logs are still being made ready: asking again finds more. */
      complete: boolean;
    }
  | { success: false; error: string };
