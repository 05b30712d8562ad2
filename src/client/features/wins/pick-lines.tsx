/**
 * The lines that a period offers to pick, by month and day: those of its logs, and the wins that reviews have named in
 * it. The months are folded, because a year has many lines.
 */
import { useDeferredValue, useState } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { monthOf } from '#domain/day/month.ts';
import {
  candidateKey,
  monthLabel,
  candidateDays,
  type Candidate,
  type CandidateDay,
  type DayLog,
} from '#domain/documents/win-candidates.ts';
import { Field } from '#client/ui/form/form.tsx';
import { Quiet } from '#client/ui/stack.tsx';
import { Summary } from '#client/ui/page/folded-section.tsx';
import styles from './wins.module.css';
import { splitReview, type DayText } from '#domain/coach/win-bullets.ts';
import { ANSWER_TOO_LONG, type DataClient } from '#client/lib/api/data-client.ts';

type PickLinesProps = {
  days: readonly CandidateDay[];
  picked: ReadonlySet<string>;
  onPick: (candidate: Candidate, isPicked: boolean) => void;
};

export function PickLines({ days, picked, onPick }: PickLinesProps) {
  const [typed, setTyped] = useState('');
  const words = useDeferredValue(typed).trim().toLowerCase();
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const matching = words === '' ? days : days.flatMap((day) => matchingDay(day, words));
  const months = [...Map.groupBy(matching, ({ date }) => monthOf(date))].toReversed();
  if (days.length === 0) return <Quiet>No logs in this period.</Quiet>;
  return (
    <>
      <Field
        label="Find a line"
        type="search"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {months.length === 0 && <Quiet>No line has these words.</Quiet>}
      {months.map(([month, ofMonth]) => {
        const all = ofMonth.flatMap(({ candidates }) => candidates);
        const count = all.filter((candidate) => picked.has(candidateKey(candidate))).length;
        const isOpen = words !== '' || opened.has(month);
        return (
          <details
            key={month}
            className={styles.month}
            open={isOpen}
            onToggle={({ currentTarget: { open } }) => {
              if (words !== '' || open === opened.has(month)) return;
              const next = new Set(opened);
              if (open) next.add(month);
              else next.delete(month);
              setOpened(next);
            }}
          >
            <Summary>
              <span>{monthLabel(month)}</span>
              <span className={styles.note}>
                {count} of {all.length} picked
              </span>
            </Summary>
            {isOpen &&
              ofMonth.map(({ date, candidates }) => (
                <fieldset key={date} className={styles.pickDay}>
                  <legend>{dayLabel(date)}</legend>
                  {candidates.map((candidate) => {
                    const key = candidateKey(candidate);
                    return (
                      <label key={key} className={styles.candidate}>
                        <input
                          type="checkbox"
                          checked={picked.has(key)}
                          onChange={({ currentTarget }) => onPick(candidate, currentTarget.checked)}
                        />
                        <span dir="auto">
                          {candidate.text}
                          {candidate.isWin && <span className={styles.winMark}> Win</span>}
                        </span>
                      </label>
                    );
                  })}
                </fieldset>
              ))}
          </details>
        );
      })}
    </>
  );
}

function matchingDay(day: CandidateDay, words: string): CandidateDay[] {
  const candidates = day.candidates.filter(({ text }) => text.toLowerCase().includes(words));
  return candidates.length === 0 ? [] : [{ ...day, candidates }];
}

const PAGE_ROWS = 400;

/** Reads the lines that the user can pick for a period: those of its logs, and the wins that reviews name in it. */
export async function readCandidates(
  data: DataClient,
  userId: string,
  { from, to }: { from: Day; to: Day },
  signal: AbortSignal,
): Promise<CandidateDay[]> {
  const [logs, wins] = await Promise.all([
    readLogs(data, userId, from, to, signal),
    readWins(data, userId, from, to, signal),
  ]);
  return candidateDays(logs, wins);
}

async function readLogs(data: DataClient, userId: string, from: Day, to: Day, signal: AbortSignal): Promise<DayLog[]> {
  const logs: DayLog[] = [];
  let size = PAGE_ROWS;
  for (;;) {
    const last = logs.at(-1)?.date;
    const all = data.from('entries').select('date, content, hustle_score').eq('user_id', userId).lte('date', to);
    const { data: rows, error } = await (last === undefined ? all.gte('date', from) : all.gt('date', last))
      .order('date')
      .limit(size)
      .abortSignal(signal);
    if (error?.code === ANSWER_TOO_LONG && size > 1) {
      size = Math.ceil(size / 4);
      continue;
    }
    if (error) throw new Error(error.message);
    logs.push(...rows.map(({ date, content, hustle_score: score }) => ({ date, html: content, score })));
    if (rows.length < size) return logs;
  }
}

const REVIEWS_PER_PAGE = 100;

async function readWins(data: DataClient, userId: string, from: Day, to: Day, signal: AbortSignal): Promise<DayText[]> {
  const { data: rows } = await data
    .from('reviews')
    .select('text')
    .eq('user_id', userId)
    .lte('period_from', to)
    .gte('period_to', from)
    .order('created_at', { ascending: false })
    .limit(REVIEWS_PER_PAGE)
    .abortSignal(signal)
    .throwOnError();
  return rows.flatMap(({ text }) => splitReview(text).wins).filter(({ date }) => date >= from && date <= to);
}
