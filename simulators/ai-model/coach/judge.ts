/**
 * The sandbox's rule for a day, which anybody can follow: what was finished, how much it was, and whether it is said in
 * enough words to picture it. No intelligence, and no claim to any: it exists so that no two logs get the same answer.
 */
import type { Item } from './read-log.ts';

export type Judged = Item & {
  readonly finished: boolean;
  readonly counted: boolean;
  readonly told: boolean;
  readonly vague: boolean;
  /** Said to the coach and not about the day: it counts for nothing, whatever it asks for. */
  readonly toCoach: boolean;
  /** 0 to 3. */
  readonly points: number;
};

/** Letters of a line that says something; of a script that writes a word in one or two signs. */
const TOLD_LETTERS = 22;
const TOLD_SIGNS = 9;
/** So many points make a day of 6 or 7; each further point adds less than the one before. */
const POINTS_OF_GOOD_DAY = 7;

const word = (alternatives: string): RegExp => new RegExp(`(?<!\\p{L})(?:${alternatives})(?!\\p{L})`, 'iu');

const UNFINISHED = word(
  'tried|wanted|planned|needed|hoped|started|bored|tired|relaxed|scrolled|procrastinated|distracted|worked|talked|' +
    'crushed|dominated|smashed|destroyed|slayed|killed|watched|waited|thought|looked|opened|amazed|loved|slept|read',
);
const FINISHED: readonly RegExp[] = [
  word(
    '\\p{L}{2,}ed|wrote|sent|sold|built|made|ran|taught|paid|met|cut|gave|took|won|drove|hung|laid|found|done|' +
      'got|set|put|told|swam|drew|bought|brought|kept|held|led|left|spoke',
  ),
  // German and Dutch, Spanish and Portuguese, French, Turkish.
  word('ge\\p{L}{2,}(?:t|en|d)|\\p{L}+(?:iert|geschickt|geschlossen|gegeben|schrieben|kauft|räumt)|fertig'),
  word('\\p{L}{2,}(?:é|í|ó|amos|imos)|hice|hizo|he\\s\\p{L}+(?:ado|ido|to)'),
  word("(?:j'ai|ai|avons|a)\\s\\p{L}+(?:é|i|u|is|it|ert)"),
  word('\\p{L}+(?:d[ıiuü]m|t[ıiuü]m|d[ıiuü]k|t[ıiuü]k)'),
  /した|った|えた|完了|終わ|了|完成|写完|做完|交付/u,
  word('\\p{L}{2,}(?:ت|تُ)|तैयार|(?:\\p{L}|\\p{M})*(?:किया|की|किए|दिया|दी|लिया|लिखा|लिखी|भेजा|भेजे|बनाया|सिखाया|पूरा|पूरी)'),
];
const COUNTED =
  /\p{Nd}|[二三四五六七八九十百]|(?<!\p{L})(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|dozen)(?!\p{L})/iu;
const VAGUE = word(
  'stuff|things?|something|some|whatever|etc|various|kind of|sort of|basically|a lot|lots|busy|productive|grind(?:ed|ing)?|' +
    'hustl\\p{L}*|legend|beast|king|unstoppable|genius|best|amazing|crush\\p{L}*|cosas|algo|irgendwas|sachen|zeug|trucs?',
);
/** Said to whoever reads, and not about the day. */
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

const NOTHING = word('nothing (?:was |is )?(?:done|finished)|did nothing|no result|nichts|nada|rien|niets');

export function judgeItem(item: Item): Judged {
  const { text } = item;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const signs = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const toCoach = TO_COACH.some((sign) => sign.test(text));
  const finished =
    !NOTHING.test(text) && FINISHED.some((verb) => verb.test(text.replaceAll(new RegExp(UNFINISHED, 'giu'), ' ')));
  const counted = COUNTED.test(text);
  const told = letters >= TOLD_LETTERS || signs >= TOLD_SIGNS;
  const vague = VAGUE.test(text);
  // A number or many words beside nothing finished are no result yet.
  const full = finished ? 1 + Number(counted) + Number(told) : Number(counted && told);
  const points = toCoach ? 0 : Math.max(0, full - Number(vague));
  return { ...item, finished, counted, told, vague, toCoach, points };
}

/** 1 to 10. */
export function scoreOf(items: readonly Judged[]): number {
  const points = items.reduce((sum, item) => sum + item.points, 0);
  return 1 + Math.round(9 * (1 - Math.exp(-points / POINTS_OF_GOOD_DAY)));
}
