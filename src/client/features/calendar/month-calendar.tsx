/** A month with marks for days with logs and for locked days (docs/specification/screens.md 8). */
import { ChevronLeft, ChevronRight, Lock } from 'lucide-react';
import { createContext, use, useEffect, useMemo, useRef, useState } from 'react';
import type { ComponentProps } from 'react';
import { DayPicker } from 'react-day-picker';
import type { DayButtonProps, Labels } from 'react-day-picker';
import { dayLabel, dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import styles from './calendar-dialog.module.css';
import { monthOf, MonthsAndYears } from './months-and-years.tsx';
import type { MonthNumber } from './months-and-years.tsx';

type MonthCalendarProps = {
  /** The selected day; its month is shown first. */
  date: Day;
  today: Day;
  premium: boolean;
  datesWithEntries: readonly Day[];
  /** Disables days that have a log or are locked. */
  emptyOnly?: boolean;
  onSelect: (day: Day) => void;
};

/** Noon in the browser's time zone, so a clock change at midnight does not shift the day. */
function noonOf(date: Day): Date {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const noon = new Date(2000, month - 1, day, 12);
  noon.setFullYear(year);
  return noon;
}

function noonOfMonth(month: MonthNumber): Date {
  const noon = new Date(2000, month % 12, 1, 12);
  noon.setFullYear(Math.floor(month / 12));
  return noon;
}

/** Opens the months and years, for the button that DayPicker renders in its caption. */
const OpenMonths = createContext(() => {});

const CLASS_NAMES = {
  root: styles.root!,
  months: styles.months!,
  month_caption: styles.caption!,
  nav: styles.nav!,
  button_previous: styles.navButton!,
  button_next: styles.navButton!,
  month_grid: styles.grid!,
  weekday: styles.weekday!,
  day: styles.cell!,
  day_button: styles.day!,
};

export function MonthCalendar({ date, today, premium, datesWithEntries, emptyOnly, onSelect }: MonthCalendarProps) {
  const body = useRef<HTMLDivElement>(null);
  const [month, setMonth] = useState(() => monthOf(date));
  const [isChoosingMonth, setChoosingMonth] = useState(false);
  const logged = useMemo(() => new Set(datesWithEntries), [datesWithEntries]);
  const hasLog = (cell: Date): boolean => logged.has(dayOf(cell));
  const isLockedDay = (cell: Date): boolean => isLocked(dayOf(cell), premium, today);

  // Focuses the selected day, or the latest day that can be selected. In a microtask, because the dialog moves the
  // focus in an effect that runs after this one.
  useEffect(() => {
    const find = (cell: string) => body.current?.querySelectorAll<HTMLElement>(`${cell} button:enabled`) ?? [];
    if (!isChoosingMonth) queueMicrotask(() => [...find('td'), ...find('[data-selected="true"]')].at(-1)?.focus());
  }, [isChoosingMonth]);

  const labels: Partial<Labels> = {
    labelDayButton: (cell, modifiers) =>
      [
        dayLabel(dayOf(cell)),
        modifiers['today'] && 'today',
        modifiers['logged'] && 'has entry',
        modifiers['locked'] && 'locked, Closer only',
      ]
        .filter(Boolean)
        .join(', '),
  };

  return (
    <OpenMonths value={() => setChoosingMonth(true)}>
      <div ref={body} hidden={isChoosingMonth}>
        <DayPicker
          mode="single"
          required
          selected={noonOf(date)}
          today={noonOf(today)}
          month={noonOfMonth(month)}
          onMonthChange={(first) => setMonth(monthOf(dayOf(first)))}
          endMonth={noonOf(today)}
          weekStartsOn={0}
          fixedWeeks
          disabled={[{ after: noonOf(today) }, (cell) => emptyOnly === true && (hasLog(cell) || isLockedDay(cell))]}
          modifiers={{ logged: hasLog, locked: isLockedDay }}
          classNames={CLASS_NAMES}
          labels={labels}
          components={{ DayButton: CalendarDay, Chevron: ChevronIcon, CaptionLabel: MonthButton }}
          onSelect={(cell) => onSelect(dayOf(cell))}
        />
      </div>
      {isChoosingMonth && (
        <MonthsAndYears
          month={month}
          today={today}
          datesWithEntries={datesWithEntries}
          onChoose={(chosen) => {
            setMonth(chosen);
            setChoosingMonth(false);
          }}
          onBack={() => setChoosingMonth(false)}
        />
      )}
      <ul className={styles.legend}>
        <li>
          <b className={styles.todayKey} aria-hidden="true">
            {Number(today.slice(-2))}
          </b>
          <span>Today</span>
        </li>
        <li>
          <span className={styles.dotKey} aria-hidden="true" /> Has entries
        </li>
        {!premium && (
          <li>
            <Lock aria-hidden /> Locked (Closer only)
          </li>
        )}
      </ul>
    </OpenMonths>
  );
}

function MonthButton({ children, ...label }: ComponentProps<'span'>) {
  const openMonths = use(OpenMonths);
  return (
    <span {...label}>
      <button
        type="button"
        className={styles.captionButton}
        aria-expanded={false}
        onClick={openMonths}
        title="Months and years"
      >
        {children}
      </button>
    </span>
  );
}

function CalendarDay({ day, modifiers, children, ...button }: DayButtonProps) {
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (modifiers['focused']) element.current?.focus();
  }, [modifiers]);
  void day;
  return (
    <button
      {...button}
      ref={element}
      data-today={modifiers['today']}
      data-locked={modifiers['locked'] && !modifiers['disabled']}
    >
      {children}
      {(modifiers['logged'] || modifiers['locked']) && (
        <span className={styles.marks}>
          {modifiers['logged'] && <span className={styles.dot} />}
          {modifiers['locked'] && <Lock aria-hidden />}
        </span>
      )}
    </button>
  );
}

const ChevronIcon = ({ orientation }: { orientation?: 'up' | 'down' | 'left' | 'right' }) =>
  orientation === 'left' ? <ChevronLeft aria-hidden /> : <ChevronRight aria-hidden />;
