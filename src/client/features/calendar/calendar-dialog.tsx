/** "Select Date": a month, the days with logs marked, the days that the plan does not open locked (product.md 2). */
import { ChevronLeft, ChevronRight, Lock } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import { DayPicker } from 'react-day-picker';
import type { DayButtonProps, Labels } from 'react-day-picker';
import { dayLabel, dayOf } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { isLocked } from '#domain/plan.ts';
import { Dialog } from '#client/ui/dialog.tsx';
import styles from './calendar-dialog.module.css';

type CalendarDialogProps = {
  open: boolean;
  date: Day;
  today: Day;
  premium: boolean;
  datesWithEntries: readonly Day[];
  onChoose: (day: Day) => void;
  /** A day that only a Closer may open was chosen. */
  onLocked: () => void;
  onClose: () => void;
};

/** Noon of a day in the browser's zone: a clock change at midnight then moves it to no other day. */
function noonOf(date: Day): Date {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const noon = new Date(2000, month - 1, day, 12);
  noon.setFullYear(year);
  return noon;
}

const CLASS_NAMES = {
  root: styles.root!,
  months: styles.months!,
  month_caption: styles.caption!,
  nav: styles.nav!,
  button_previous: styles.turn!,
  button_next: styles.turn!,
  month_grid: styles.grid!,
  weekday: styles.weekday!,
  day: styles.cell!,
  day_button: styles.day!,
};

export function CalendarDialog(props: CalendarDialogProps) {
  if (!props.open) return null;
  return <OpenCalendar {...props} />;
}

function OpenCalendar({ date, today, premium, datesWithEntries, onChoose, onLocked, onClose }: CalendarDialogProps) {
  const body = useRef<HTMLDivElement>(null);
  const written = useMemo(() => new Set(datesWithEntries), [datesWithEntries]);

  // After the dialog has taken the focus: the arrows then move from the day that is open.
  useEffect(() => body.current?.querySelector<HTMLElement>('[data-selected="true"] button')?.focus(), []);

  const labels: Partial<Labels> = {
    labelDayButton: (cell, modifiers) =>
      [
        dayLabel(dayOf(cell)),
        modifiers['today'] && 'today',
        modifiers['written'] && 'has entry',
        modifiers['locked'] && 'locked, Closer only',
      ]
        .filter(Boolean)
        .join(', '),
  };

  return (
    <Dialog title="Select Date" onClose={onClose} className={styles.dialog}>
      <div ref={body}>
        <DayPicker
          mode="single"
          required
          selected={noonOf(date)}
          today={noonOf(today)}
          defaultMonth={noonOf(date)}
          endMonth={noonOf(today)}
          weekStartsOn={0}
          fixedWeeks
          disabled={{ after: noonOf(today) }}
          modifiers={{
            written: (cell) => written.has(dayOf(cell)),
            locked: (cell) => isLocked(dayOf(cell), premium, today),
          }}
          classNames={CLASS_NAMES}
          labels={labels}
          components={{ DayButton: CalendarDay, Chevron: TurnIcon }}
          onSelect={(cell) => {
            const day = dayOf(cell);
            if (isLocked(day, premium, today)) onLocked();
            else onChoose(day);
          }}
        />
      </div>
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
    </Dialog>
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
      {(modifiers['written'] || modifiers['locked']) && (
        <span className={styles.marks}>
          {modifiers['written'] && <span className={styles.dot} />}
          {modifiers['locked'] && <Lock aria-hidden />}
        </span>
      )}
    </button>
  );
}

const TurnIcon = ({ orientation }: { orientation?: 'up' | 'down' | 'left' | 'right' }) =>
  orientation === 'left' ? <ChevronLeft aria-hidden /> : <ChevronRight aria-hidden />;
