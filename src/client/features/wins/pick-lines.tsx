/** All lines of the period by month and day, to pick from. The months unfold one by one, because a year has many lines. */
import { useDeferredValue, useState } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import { monthOf } from '#domain/day/month.ts';
import { candidateKey, monthLabel, type Candidate, type CandidateDay } from '#domain/documents/win-candidates.ts';
import { Field } from '#client/ui/form/field.tsx';
import { Quiet } from '#client/ui/stack.tsx';
import styles from './wins.module.css';

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
  if (days.length === 0) return <Quiet>No logs in this period yet.</Quiet>;
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
            <summary>
              <span>{monthLabel(month)}</span>
              <span className={styles.note}>
                {count} of {all.length} picked
              </span>
            </summary>
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
