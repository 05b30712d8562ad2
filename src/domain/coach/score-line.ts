/**
 * Parses `HustleScore: N/10` and `MissingFact: …` lines, for models without structured output
 * (docs/specification/coach.md 9).
 *
 * Threat: a user writes such a line into the log to choose the score. Only the model's reply is parsed, never the log.
 * If the reply has two different scores, one may be quoted from the log, so the reply is invalid. Two different facts
 * are both dropped, and the rest of the reply is used.
 */
import { isScore } from './coach.ts';

/** A separate line; surrounding Markdown (emphasis, quote, heading) is ignored. */
const SCORE_LINE = /^[\s*_#>"'`-]*Hustle ?Score[\s*_]*:[\s*_]*(\d{1,2})\s*\/\s*10[\s*_."'`]*$/i;
/**
 * Longer than any score line and than `MissingFact:`, so that a longer line can be classified before it is complete.
 */
const MAX_SCORE_LINE_LENGTH = 80;
const FACT_LINE = /^[\s*_#>"'`-]{0,20}Missing ?Fact[\s*_]{0,9}:[\s*_]{0,9}([^]*)$/i;

export type ScoredText = {
  score: number | null;
  missingFact: string | null;
  /** The reply without score lines and fact lines. Append-only while the reply is streamed. */
  text: string;
  /** The scores contradict each other, or the score is out of range. */
  isInvalid: boolean;
};

/**
 * `isComplete`: false while the reply is streamed. The last line is then left out until it is longer than
 * `MAX_SCORE_LINE_LENGTH`, because it may still become a score line or a fact line.
 */
export function parseScoredText(modelText: string, isComplete: boolean): ScoredText {
  const lines = modelText.split('\n');
  if (!isComplete && visibleText(lines.at(-1)!).length <= MAX_SCORE_LINE_LENGTH) lines.pop();
  const scores = new Set<number>();
  const facts = new Set<string>();
  const text: string[] = [];
  for (const line of lines) {
    const visible = visibleText(line);
    const score = visible.length <= MAX_SCORE_LINE_LENGTH ? SCORE_LINE.exec(visible)?.[1] : undefined;
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
    isInvalid: scores.size > 1 || (score !== null && !isScore(score)),
  };
}

/** Removes invisible characters and collapses blanks, so that a line that looks like a score line is parsed as one. */
const visibleText = (line: string): string => line.replaceAll(/\p{DI}/gu, '').replaceAll(/\s+/g, ' ');
