/** The lines that a user can pick for a wins document: the wins of reviews, and every line of the logs, day by day. */
import type { DayText } from '../coach/win-bullets.ts';
import { MONTHS, type Day } from '../day/day.ts';
import { monthOf, yearOf, type MonthNumber } from '../day/month.ts';
import { logLines } from '../log/log-lines.ts';
import { entryText } from '../log/entry-text.ts';
import { isHeading, isLeadIn } from '../log/log-outline.ts';
import { matchQuickEntry } from '../log/quick-entries.ts';
import { LINE_MAX_LENGTH, type DocumentLine, type WinLine } from './wins-document.ts';

export type DayLog = { date: Day; html: string; score: number | null };
/** `isWin`: a review named it. */
export type Candidate = { date: Day; text: string; isWin: boolean };
export type CandidateDay = { date: Day; candidates: readonly Candidate[]; score: number | null };

/** Oldest first, each text of a day once. A win of a review stands before the lines of its day. */
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

/** Words with which people report a result. In other languages reviews, scores and the first lines decide. */
const RESULT =
  /^(?:i |we )?(?:shipped|launched|released|delivered|closed|finished|completed|fixed|solved|won|signed|sold|landed|merged|migrated|hired|published|deployed|built|wrote|cut|reduced|saved|raised|doubled|halved|automated|rolled out|got .{1,40} approved|presented|negotiated|onboarded|mentored|trained|led)\b/i;
const GOOD_SCORE = 8;

/** How many lines of one month a new document gets: a year then fills about two pages. */
const MAX_PER_MONTH = { long: 4, short: 12 } as const;
const LONG_MONTHS = 4;
/** In a month in which nothing stands out, the first lines of this many days are proposed. */
const FALLBACK_DAYS = 2;

/**
 * The lines that a new document begins with, for each month those that rank highest: wins of reviews, then first lines
 * of days with a good score, then lines that report a result. The user adds and removes others.
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

/** @param newId a new id for each call */
export const toWinLine = ({ date, text }: Candidate, newId: () => string): WinLine => ({
  kind: 'win',
  id: newId(),
  date,
  text,
  source: text,
});

/** The lines under a heading for each quarter, or each month of a shorter period. One group has no heading. */
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
