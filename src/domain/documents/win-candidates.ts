/** The lines that a user can pick for a wins document, day by day: the wins of reviews and the lines of the logs. */
import type { DayText } from '../coach/win-bullets.ts';
import { MONTHS, type Day } from '../day/day.ts';
import { monthOf, yearOf, type MonthNumber } from '../day/month.ts';
import { logLines } from '../log/log-lines.ts';
import { entryText } from '../log/entry-text.ts';
import { isHeading, isLeadIn } from '../log/log-outline.ts';
import { matchQuickEntry } from '../log/quick-entries.ts';
import { LINE_MAX_LENGTH, type DocumentLine, type WinLine } from './wins-document.ts';

export type DayLog = { date: Day; html: string; score: number | null };
/** `isWin`: a review names this line as a win. */
export type Candidate = { date: Day; text: string; isWin: boolean };
export type CandidateDay = { date: Day; candidates: readonly Candidate[]; score: number | null };

/** Oldest day first, without repeated texts of a day. The wins of reviews precede the lines of the log. */
export function candidateDays(logs: readonly DayLog[], wins: readonly DayText[]): CandidateDay[] {
  const winsOfDay = Map.groupBy(wins, ({ date }) => date);
  const logsOfDay = new Map(logs.map((log) => [log.date, log]));
  const dates = [...new Set([...logsOfDay.keys(), ...winsOfDay.keys()])].sort();
  return dates.flatMap((date) => {
    const log = logsOfDay.get(date);
    const named = (winsOfDay.get(date) ?? []).map(({ text }) => text);
    const texts = [...new Set([...named, ...(log ? linesOf(log.html) : [])])];
    const candidates = texts.map((text) => ({ date, text, isWin: named.includes(text) }));
    return candidates.length === 0 ? [] : [{ date, candidates, score: log?.score ?? null }];
  });
}

/** The lines of a log that can be wins: no headings, no lines that introduce others, no quick entries. */
function linesOf(html: string): string[] {
  if (matchQuickEntry(entryText(html)) !== null) return [];
  return logLines(html)
    .filter((line) => !isHeading(line) && !isLeadIn(line))
    .map(({ text }) => text.trim().slice(0, LINE_MAX_LENGTH).toWellFormed())
    .filter((text) => text !== '');
}

/** English words that report a result. In other languages only reviews, scores and the order of lines decide. */
const RESULT =
  /^(?:i |we )?(?:shipped|launched|released|delivered|closed|finished|completed|fixed|solved|won|signed|sold|landed|merged|migrated|hired|published|deployed|built|wrote|cut|reduced|saved|raised|doubled|halved|automated|rolled out|got .{1,40} approved|presented|negotiated|onboarded|mentored|trained|led)\b/i;
const GOOD_SCORE = 8;

/** Maximum of lines for one month of a new document, by the length of its period. A year fills about two pages. */
const MAX_PER_MONTH = { long: 4, short: 12 } as const;
/** A period with logs in more months than this is long. */
const LONG_MONTHS = 4;
/** In a month without ranked lines, the first lines of this many days are proposed. */
const FALLBACK_DAYS = 2;

/**
 * The initial lines of a new document, for each month those that rank highest: wins of reviews, then first lines of
 * days with a good score, then lines that report a result.
 */
export function proposedLines(days: readonly CandidateDay[]): Candidate[] {
  const months = Map.groupBy(days, ({ date }) => monthOf(date));
  const limit = months.size > LONG_MONTHS ? MAX_PER_MONTH.long : MAX_PER_MONTH.short;
  return [...months.values()].flatMap((ofMonth) => {
    const ranked = ofMonth.flatMap(({ candidates, score }) =>
      candidates
        .map((candidate, index) => ({ candidate, rank: rankOf(candidate, index === 0, score) }))
        .filter(({ rank }) => rank > 0)
        // Lines of one rank are ordered by their position in the day, then by their length.
        .map((line, position) => ({ ...line, position })),
    );
    const chosen = ranked
      .sort((a, b) => b.rank - a.rank || a.position - b.position || b.candidate.text.length - a.candidate.text.length)
      .slice(0, limit)
      .map(({ candidate }) => candidate);
    const fallback = ofMonth
      .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0) || b.candidates.length - a.candidates.length)
      .slice(0, FALLBACK_DAYS)
      .map(({ candidates }) => candidates[0]!);
    return (chosen.length > 0 ? chosen : fallback).sort((a, b) => (a.date < b.date ? -1 : 1));
  });
}

function rankOf({ text, isWin }: Candidate, isFirst: boolean, score: number | null): number {
  if (isWin) return 30;
  if (isFirst && score !== null && score >= GOOD_SCORE) return 10 + score;
  return RESULT.test(text) ? 1 : 0;
}

/** @param newId returns a new id at each call */
export const toWinLine = ({ date, text }: Candidate, newId: () => string): WinLine => ({
  kind: 'win',
  id: newId(),
  date,
  text,
  source: text,
});

/** Groups the lines by quarter, or by month in a shorter period, each under a heading. A single group has none. */
export function groupedLines(chosen: readonly Candidate[], newId: () => string): DocumentLine[] {
  const months = new Set(chosen.map(({ date }) => monthOf(date)));
  const label = months.size > LONG_MONTHS ? quarterLabel : monthLabel;
  const groups = Map.groupBy(chosen, ({ date }) => label(monthOf(date)));
  return [...groups].flatMap(([text, lines]): DocumentLine[] => [
    ...(groups.size > 1 ? [{ kind: 'heading' as const, id: newId(), text }] : []),
    ...lines.map((line) => toWinLine(line, newId)),
  ]);
}

export const monthLabel = (month: MonthNumber): string => `${MONTHS[month % 12]!} ${yearOf(month)}`;

function quarterLabel(month: MonthNumber): string {
  const first = month - (month % 3);
  return `${MONTHS[first % 12]!} – ${MONTHS[(first + 2) % 12]!} ${yearOf(month)}`;
}

/** Identifies a candidate and the line that was made from it. */
export const candidateKey = ({ date, text }: { date: Day; text: string }): string => `${date} ${text}`;
export const lineKey = ({ date, source }: WinLine): string => candidateKey({ date, text: source });
