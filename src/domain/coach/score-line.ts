/**
 * Parses `HustleScore: N/10` and `MissingFact: …` lines, for models without structured output
 * (docs/specification/coach.md 10).
 *
 * Threat: a user writes such a line into the log to choose the score. Only the model's reply is parsed, never the log.
 * If the reply has two different scores, one may be quoted from the log, so the reply is invalid. A score line that
 * stands word for word in a log of the prompt counts only as the reply's first line. Two different facts are both
 * dropped, and the rest of the reply is used.
 */
import { SCORE_RANGE } from './coach.ts';

/** The words between a score and its scale, in languages that models mix in. */
const OF = String.raw` ?(?:/|out of|of|von|sur|de|di|van|av|af|из) ?`;
const TEN = String.raw`(?:10(?:[.,]0)?(?![\d.,]*\d)|ten(?!\p{L}))`;
const NUMBER_WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const ANY_NUMBER = String.raw`((?:10|[1-9])(?:[.,]\d)?(?![\d%])|(?:${NUMBER_WORDS.join('|')})(?!\p{L}))`;
/**
 * A second score behind the first one: "or eight", "(maybe 8)", ", 8/10". Any text after "or" counts as a score, except
 * "or so".
 */
const ALTERNATIVE = new RegExp(
  String.raw`^[>\]})]?(?:${OF}${TEN})?(?: ?[点分점])?[ ,;:(|–—-]{0,4}` +
    String.raw`(?:(?:or|oder|ou|eller|albo|lub|veya|или|або)(?= (?!so(?!\p{L})))|[或か]|または|또는|` +
    String.raw`(?:(?:maybe|perhaps|possibly|even|almost|nearly|to|bis|vielleicht|peut-être|до) ){1,2}${ANY_NUMBER}|` +
    String.raw`(?<=[ ,;:(|–—-])(?:(?:and|und|et|y|и) )?${ANY_NUMBER}` +
    String.raw`(?=/| out of| (?:with|if|when|at best)(?!\p{L})|[^\p{L}\p{N}]*$|[).;,!]))`,
  'iu',
);
/** Not preceded by a sign or a digit, not followed by another scale or by the second half of a range. */
const VALUE =
  // Chinese, Japanese and Korean may name the scale first: 10点満点中7点.
  String.raw`(?:10 ?[点分점] ?(?:満点|满分|만점)[中で에,、:]? ?)?(?<![-−\d.,])` +
  String.raw`(\d{1,3}(?:[.,]\d{1,2})?|(?:${NUMBER_WORDS.join('|')})(?=${OF}${TEN}| ?\(\d{1,2}\)|[^\p{L}\p{N}]*$))` +
  String.raw`(?![\d%⁄]|[.,]\d| ?[点分점] ?(?:満点|满分|만점|中))` +
  String.raw`(?:[>\]})]?${OF}${TEN}(?! ?(?:[~→]|->|to|or) ?\d)|(?!${OF}\d| ?(?:[-–—~→]|->|to|or|bis) ?\d))` +
  String.raw`(?: ?(?:[点分점]|points?|pts|punkte?n?|puan)(?!\p{L}))?(?: ?\([^()]{0,60}\))?`;
const LIST_NUMBER = /^[^\p{L}\p{N}]*\d{1,2}[.)]\s/u;
const LABEL = String.raw`^[^\p{L}\p{N}{<]*(?:\d{1,2}[.)] )?(?:(?:assistant|coach|ai|answer|response) ?: ?)?(?:(?:your|my|the|final|overall|todays) )*`;
const OUT_OF_TEN_FOLLOWS = String.raw`(?=[\d.,]{1,6}[>\]})]?${OF}10)`;
const SEPARATOR =
  String.raw`(?: ?\([^()]{0,20}\))?(?: ?(?:[:=–—→>]|- |is[ :])){0,2} ?(?:(?:about|around|roughly|approximately|an?|solid|strong|weak) ){0,2}` +
  // A bracket that the model copied from a template, or of LaTeX's `\boxed{…}`.
  String.raw`(?:[★☆⭐🌟]{1,10} ?)?(?:(?:boxed)?[<[{(]${OUT_OF_TEN_FOLLOWS})?`;
const SCORE_LINE = new RegExp(`${LABEL}hustle ?-? ?score${SEPARATOR}${VALUE}`, 'iud');
const OCCASION = String.raw`(?: for (?:today|(?:the|this) (?:day|log)|[^:=]{1,40}(?=[:=])))?`;
/** "Score" and "rating" in the languages that models write. */
const SCORE_WORD =
  '(?:score|rating|bewertung|punktzahl|note|puntuación|puntaje|calificación|pontuação|nota|punteggio|voto|cijfer|betyg|' +
  'ocena|wynik|skóre|puan|điểm|skor|оценка|оцінка|балл|βαθμολογία|评分|評分|得分|分数|スコア|点数|評価|점수|평점|التقييم|الدرجة|ציון|स्कोर|คะแนน)';
const SCORE_NAME = new RegExp(`^(?:hustle|overall|final|total)?[ _-]?${SCORE_WORD}$`, 'iu');
/** True for the name of a field or line that holds a score. */
export const isScoreName = (name: string): boolean => SCORE_NAME.test(name);
/** The first line of a reply may have a shorter label, or none if the line holds nothing else. */
const FIRST_LINE = new RegExp(
  [
    `${LABEL}hustle ?-? ?score${OCCASION}${SEPARATOR}${VALUE}`,
    `${LABEL}(?:score|rating)${SEPARATOR}${OUT_OF_TEN_FOLLOWS}${VALUE}`,
    `${LABEL}(?:hustle ?-? ?)?${SCORE_WORD}${SEPARATOR}${VALUE}[^\\p{L}\\p{N}]*$`,
    `^[^\\p{L}\\p{N}-]*${OUT_OF_TEN_FOLLOWS}${VALUE}[^\\p{L}\\p{N}]*$`,
  ].join('|'),
  'iud',
);
/** A value alone, or followed by a remark without numbers. */
const ONLY_VALUE = new RegExp(`^${VALUE}(?: ?[-–—:;,.][^\\p{N}]*|[^\\p{L}\\p{N}]*)$`, 'iud');
const OUT_OF_TEN = new RegExp(String.raw`(?<![\d.,])(\d{1,3}(?:[.,]\d{1,2})?)${OF}10(?![\d.,]*\d)`, 'giu');
/** A label whose score stands on the next line, or in the row below. */
const LABEL_ONLY = String.raw`[^\p{L}\p{N}\n]{0,20}(?:Hustle[ _-]?)?Score[ \t*_:：=|]{0,9}`;
const LABEL_ABOVE = new RegExp(
  String.raw`^(${LABEL_ONLY})\n(?:\|[ \t|:-]{1,40}\n)?\s*(?=[*_"'\x60| ]{0,9}\p{Nd})`,
  'gimu',
);
const LABEL_LINE = new RegExp(`^${LABEL_ONLY}$`, 'iu');
/** A line that opens or closes a code block. Some models wrap the whole reply in one. */
export const isFence = (line: string): boolean => /^\s{0,3}(?:`{3,}|~{3,})[\w-]{0,20}\s*$/.test(line);
/**
 * A line is classified by its first visible characters, so that a longer line can be shown before it is complete.
 * Longer than any score with its label and remark, and than `MissingFact:`.
 */
const MAX_SCORE_LINE_LENGTH = 120;
const FACT_LINE = /^[\s*_#>"'`-]{0,20}Missing[ _-]?Fact[\s*_"'`]{0,9}(?:[:：=]|[-–—](?=\s))[\s*_"'`]{0,9}([^]*)$/i;

/** The label of the feedback in a reply that is written as YAML: `score: 7`, `feedback: |`. */
const FEEDBACK_LABEL = /^[\s*_#>-]{0,9}feedback[*_ ]{0,3}[:：][\s*_]{0,3}(?:[|>][+-]?\s*$)?/i;
const CITED_LINE = /^[\s*_#>-]{0,9}cited[*_ ]{0,3}[:：][\s\d.,[\]"'*_]{0,200}$/i;
/** Blank, or a rule of Markdown or YAML. */
const RULE_LINE = /^[\s*_=|#-]*$/;
/** A heading over the reply or its feedback. */
const TITLE_LINE =
  /^[^\p{L}\p{N}]{0,9}(?:assistant|coach|ai|(?:final )?answer|response|output|feedback)[^\p{L}\p{N}]{0,9}$/iu;

export type ScoredText = {
  score: number | null;
  missingFact: string | null;
  /** The reply without scores, fact lines and code fences. Append-only while the reply is streamed. */
  text: string;
  /** The part of `text` below the first score. */
  textBelow: string;
  /** The scores contradict each other, or the score is out of range. */
  isInvalid: boolean;
  /** The first line is a score line. */
  startsWithScore: boolean;
};

/**
 * `isComplete`: false while the reply is streamed. The last line is then left out until it is longer than
 * `MAX_SCORE_LINE_LENGTH`, because it may still become a score line or a fact line. `isQuoted`: whether a text stands
 * word for word in a log of the prompt.
 */
export function parseScoredText(
  modelText: string,
  isComplete: boolean,
  isQuoted: (text: string) => boolean = () => false,
): ScoredText {
  const lines = modelText.replaceAll(LABEL_ABOVE, '$1 ').split('\n');
  if (!isComplete && toPlain(lines.at(-1)!).plain.length <= MAX_SCORE_LINE_LENGTH) lines.pop();
  const scores = new Set<number | null>();
  const quoted = new Set<number | null>();
  const facts = new Set<string>();
  const text: string[] = [];
  const first = lines.findIndex((line) => !RULE_LINE.test(line) && !isFence(line) && !TITLE_LINE.test(line));
  const isTitled = lines.slice(0, first).some((line) => TITLE_LINE.test(line));
  let startsWithScore = false;
  /** How many lines of the text stand above the first score. */
  let above: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (isFence(line) || LABEL_LINE.test(line) || CITED_LINE.test(line)) continue;
    if (text.length === 0 && (TITLE_LINE.test(line) || RULE_LINE.test(line))) continue;
    const fact = FACT_LINE.exec(line)?.[1];
    const found = fact === undefined ? readScoreLine(line, index === first ? FIRST_LINE : SCORE_LINE) : null;
    if (found) {
      const isFromLog = (index !== first || isTitled) && isQuoted(line.replace(LIST_NUMBER, ''));
      for (const score of found.scores) (isFromLog ? quoted : scores).add(score);
      startsWithScore ||= index === first;
      if (!isFromLog) above ??= text.length;
      if (found.rest !== '') text.push(found.rest);
    } else if (fact !== undefined) facts.add(fact.replaceAll('**', '').trim());
    else text.push(text.length === 0 ? line.replace(FEEDBACK_LABEL, '') : line);
  }
  const [score = null] = scores;
  const [fact = ''] = facts;
  const all = new Set([...scores, ...quoted]);
  return {
    score,
    missingFact: facts.size > 1 ? null : fact || null,
    text: text.join('\n').trim(),
    textBelow: text
      .slice(above ?? 0)
      .join('\n')
      .trim(),
    isInvalid: all.size > 1 || all.has(null),
    startsWithScore,
  };
}

/** `scores`: null for one out of range. `rest`: the words after the score. */
function readScoreLine(line: string, pattern: RegExp): { scores: (number | null)[]; rest: string } | null {
  const { plain: whole, ends } = toPlain(line);
  const plain = whole.slice(0, MAX_SCORE_LINE_LENGTH);
  const match = pattern.exec(plain);
  if (!match) return null;
  const after = plain.slice(match[0].length);
  const others = [...after.matchAll(OUT_OF_TEN)].map(([, value]) => value!);
  const rest = line
    .slice(ends[match[0].length - 1])
    .replace(/^[*_`~"'|\\$>\]})]*\s*[:;,.!|=–—-]*\s*/, '')
    .trimEnd();
  return { scores: [...scoresOf(match), ...others.map(toScore)], rest: /[\p{L}\p{N}]/u.test(rest) ? rest : '' };
}

/** A score in a field of its own: `7`, `"7"`, `"7.5/10"`, `[7]`. Null if it is not one number from 1 to 10. */
export function readScore(value: unknown): number | null {
  if (Array.isArray(value)) return value.length === 1 && !Array.isArray(value[0]) ? readScore(value[0]) : null;
  if (typeof value === 'number') return toScore(String(value));
  const match = typeof value === 'string' ? ONLY_VALUE.exec(toPlain(value).plain) : null;
  const scores = new Set(match && scoresOf(match));
  return scores.size === 1 ? [...scores][0]! : null;
}

/** The score of a match of `VALUE`, and the second one behind it (`ALTERNATIVE`); null for one that is no number. */
function scoresOf({ indices, input }: RegExpExecArray): (number | null)[] {
  const [start, end] = indices!.findLast((range) => range !== undefined)!;
  const alternative = ALTERNATIVE.exec(input.slice(end));
  const other = alternative?.slice(1).find((value) => value !== undefined);
  return [toScore(input.slice(start, end)), ...(alternative ? [other === undefined ? null : toScore(other)] : [])];
}

/** Rounds to a whole number, halves down: the coach does not flatter. */
function toScore(text: string): number | null {
  const word = NUMBER_WORDS.indexOf(text.toLowerCase());
  const value = word === -1 ? Number(text.replace(',', '.')) : word + 1;
  return value >= SCORE_RANGE.min && value <= SCORE_RANGE.max ? Math.ceil(value - 0.5) : null;
}

/** The code points of zero in scripts whose digits NFKC keeps: Arabic, Persian, Devanagari, Bengali. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6];

/**
 * The line as a reader sees it: without invisible characters, Markdown and quotation marks, with ASCII digits,
 * full-width characters as ordinary ones and single blanks. `ends`: for each character of `plain`, where it ends in the
 * line.
 */
function toPlain(line: string): { plain: string; ends: number[] } {
  let plain = '';
  const ends: number[] = [];
  let at = 0;
  for (const character of line) {
    at += character.length;
    const shown = plainCharacter(character);
    if (shown !== ' ' || !/^$| $/.test(plain.slice(-1))) plain += shown;
    while (ends.length < plain.length) ends.push(at);
    // A long line is classified by its beginning.
    if (plain.length > MAX_SCORE_LINE_LENGTH) break;
  }
  return { plain, ends };
}

function plainCharacter(character: string): string {
  if (/[*`~\\"'“”„«»$]|\p{DI}/u.test(character)) return '';
  if (/[\s_|]/.test(character)) return ' ';
  if (character === '½') return '.5';
  // Fraction slashes of the model. The one in NFKC's form of ⅞ stays: `7⁄8` is no score.
  if (/[⁄∕]/.test(character)) return '/';
  const zero = ZEROS.find((first) => character.codePointAt(0)! >= first && character.codePointAt(0)! < first + 10);
  if (zero !== undefined) return String(character.codePointAt(0)! - zero);
  return character.normalize('NFKC');
}
