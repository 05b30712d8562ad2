/** Months of a year and the years of the journal, to reach a day far away (docs/specification/screens.md 8). */
import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { FIRST_DAY, MONTHS, type Day } from '#domain/day/day.ts';
import { monthOf, yearOf, type MonthNumber } from '#domain/day/month.ts';
import { yearPath } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import styles from './calendar-dialog.module.css';

const FIRST_MONTH = monthOf(FIRST_DAY);

/** Columns of the grid: the arrow keys up and down move by a row. */
const COLUMNS = 3;

type MonthsAndYearsProps = {
  month: MonthNumber;
  today: Day;
  /** The last day that can be opened: today, or a later day with a log. */
  last: Day;
  datesWithEntries: readonly Day[];
  onChoose: (month: MonthNumber) => void;
  onBack: () => void;
};

export function MonthsAndYears({
  month,
  today,
  last: lastDay,
  datesWithEntries,
  onChoose,
  onBack,
}: MonthsAndYearsProps) {
  const last = monthOf(lastDay);
  /** The month with the focus, or the one that Tab leads to. */
  const [current, setCurrent] = useState(month);
  const grid = useRef<HTMLDivElement>(null);
  const takesFocus = useRef(true);
  useEffect(() => {
    const focusMonth = (): void => grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    // In a microtask, because the browser moves the focus out of the removed button first.
    if (takesFocus.current) queueMicrotask(focusMonth);
    takesFocus.current = false;
  });

  const year = yearOf(current);
  const logged = new Set(datesWithEntries.map(monthOf));
  const firstYear = Math.min(year, ...[...logged].map(yearOf));
  const years = Array.from({ length: yearOf(last) - firstYear + 1 }, (_, index) => yearOf(last) - index);
  const clamp = (next: MonthNumber): MonthNumber => Math.max(FIRST_MONTH, Math.min(next, last));
  const showYear = (next: number): void => setCurrent(clamp(current + (next - year) * 12));

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -COLUMNS,
      ArrowDown: COLUMNS,
      Home: year * 12 - current,
      End: year * 12 + 11 - current,
      PageUp: -12,
      PageDown: 12,
    }[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    takesFocus.current = true;
    setCurrent(clamp(current + step));
  };

  return (
    <div className={styles.chooser}>
      <div className={styles.root}>
        <div className={styles.caption}>
          <button
            type="button"
            className={styles.captionButton}
            aria-label={`${year}, back to the days`}
            aria-expanded
            onClick={onBack}
          >
            {year}
          </button>
        </div>
        <div className={styles.nav}>
          <button
            type="button"
            className={styles.navButton}
            aria-label="Previous year"
            aria-disabled={year === 1}
            onClick={() => showYear(year - 1)}
          >
            <ChevronLeft aria-hidden />
          </button>
          <button
            type="button"
            className={styles.navButton}
            aria-label="Next year"
            aria-disabled={year === yearOf(last)}
            onClick={() => showYear(year + 1)}
          >
            <ChevronRight aria-hidden />
          </button>
        </div>
      </div>
      <div ref={grid} className={styles.monthGrid} role="group" aria-label={`Months of ${year}`}>
        {MONTHS.map((name, index) => {
          const number = year * 12 + index;
          const hasEntries = logged.has(number);
          return (
            <button
              key={name}
              type="button"
              className={styles.month}
              aria-label={`${name} ${year}${hasEntries ? ', has entries' : ''}`}
              aria-current={number === monthOf(today) ? 'date' : undefined}
              aria-pressed={number === month}
              disabled={number > last}
              tabIndex={number === current ? 0 : -1}
              onClick={() => onChoose(number)}
              onKeyDown={onKeyDown}
            >
              {name}
              {hasEntries && <span className={styles.dot} />}
            </button>
          );
        })}
      </div>
      {[...logged].some((one) => yearOf(one) === year) && (
        <p className={styles.page}>
          <Link to={yearPath(String(year).padStart(4, '0'))}>{year} on one page</Link>
        </p>
      )}
      {years.length > 1 && (
        <div className={styles.years} role="group" aria-label="Years">
          {years.map((one) => (
            <button key={one} type="button" aria-pressed={one === year} onClick={() => showYear(one)}>
              {one}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
