/**
 * Scores log items by simple rules: a finished verb, a number, and enough detail. Not a language model: the rules only
 * make different logs receive different answers.
 */
import type { Item } from './parse-log.ts';

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

export function scoreItem(item: Item): ScoredItem {
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
export function scoreDay(items: readonly ScoredItem[]): number {
  const points = items.reduce((sum, item) => sum + item.points, 0);
  return 1 + Math.round(9 * (1 - Math.exp(-points / POINTS_OF_GOOD_DAY)));
}
