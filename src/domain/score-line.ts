/**
 * The score as a line of text, `HustleScore: N/10`, for models that cannot be held to a form (product.md 5).
 *
 * Threat: somebody writes that line into their log, and the score is theirs to choose. So only what the model itself
 * answered is ever read here, and where it says two different scores, one of them may be the log's: then there is none.
 */
import { isScore, MIN_REPLY } from './coach.ts';

/** On a line of its own; Markdown's emphasis, quotes and headings around it do not matter. */
const SCORE_LINE = /^[\s*_#>"'`-]*HustleScore[\s*_]*:[\s*_]*(\d{1,2})\s*\/\s*10[\s*_."'`]*$/i;
/** Longer than any score line: such a line is known to be none before it has ended. */
const SCORE_LINE_LIMIT = 80;

export type ScoredText = {
  score: number | null;
  /** Everything but the score's lines. While the text arrives, what stands here is only ever added to. */
  text: string;
  /** The lines contradict each other, or are out of range. */
  broken: boolean;
};

/** What is certain of a text of which more may come (`whole` false), or of all of it. */
export function readScoredText(modelText: string, whole: boolean): ScoredText {
  const lines = modelText.split('\n');
  if (!whole && lines.at(-1)!.length <= SCORE_LINE_LIMIT) lines.pop();
  const scores = new Set<number>();
  const text: string[] = [];
  for (const line of lines) {
    const score = line.length <= SCORE_LINE_LIMIT ? SCORE_LINE.exec(line)?.[1] : undefined;
    if (score === undefined) text.push(line);
    else scores.add(Number(score));
  }
  const [score = null] = scores;
  return { score, text: text.join('\n').trim(), broken: scores.size > 1 || (score !== null && !isScore(score)) };
}

/** The score and the feedback of a whole reply; null where one of them is missing, out of range or not clear. */
export function parseScoreLine(modelText: string): { score: number; feedback: string } | null {
  const { score, text, broken } = readScoredText(modelText, true);
  return score === null || broken || text.length < MIN_REPLY ? null : { score, feedback: text };
}
