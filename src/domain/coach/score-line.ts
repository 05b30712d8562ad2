/**
 * The score and the missing fact as lines of text, `HustleScore: N/10` and `MissingFact: …`, for models that cannot be
 * held to a form (docs/specification/coach.md 9).
 *
 * Threat: somebody writes that line into their log, and the score is theirs to choose. So only what the model itself
 * answered is ever read here, and where it says two different scores, one of them may be the log's: then there is none.
 * Of two facts neither is believed, and the rest of the answer counts.
 */
import { isScore } from './coach.ts';

/** On a line of its own; Markdown's emphasis, quotes and headings around it do not matter. */
const SCORE_LINE = /^[\s*_#>"'`-]*Hustle ?Score[\s*_]*:[\s*_]*(\d{1,2})\s*\/\s*10[\s*_."'`]*$/i;
/** Longer than any score line and than the name of the fact: what such a line is, is known before it has ended. */
const SCORE_LINE_LIMIT = 80;
const FACT_LINE = /^[\s*_#>"'`-]{0,20}Missing ?Fact[\s*_]{0,9}:[\s*_]{0,9}([^]*)$/i;

export type ScoredText = {
  score: number | null;
  missingFact: string | null;
  /** Everything but these lines. While the text arrives, what stands here is only ever added to. */
  text: string;
  /** The scores contradict each other, or are out of range. */
  broken: boolean;
};

/** What is certain of a text of which more may come (`whole` false), or of all of it. */
export function readScoredText(modelText: string, whole: boolean): ScoredText {
  const lines = modelText.split('\n');
  if (!whole && asSeen(lines.at(-1)!).length <= SCORE_LINE_LIMIT) lines.pop();
  const scores = new Set<number>();
  const facts = new Set<string>();
  const text: string[] = [];
  for (const line of lines) {
    const seen = asSeen(line);
    const score = seen.length <= SCORE_LINE_LIMIT ? SCORE_LINE.exec(seen)?.[1] : undefined;
    const fact = FACT_LINE.exec(line)?.[1];
    if (score !== undefined) scores.add(Number(score));
    else if (fact !== undefined) facts.add(fact.replaceAll('**', '').trim());
    else text.push(line);
  }
  const [score = null] = scores;
  const [fact = ''] = facts;
  return {
    score,
    missingFact: facts.size > 1 ? null : fact || null,
    text: text.join('\n').trim(),
    broken: scores.size > 1 || (score !== null && !isScore(score)),
  };
}

/** What is a score line on a screen is one: joiners within a word and rows of blanks are not seen there. */
const asSeen = (line: string): string => line.replaceAll(/\p{DI}/gu, '').replaceAll(/\s+/g, ' ');
