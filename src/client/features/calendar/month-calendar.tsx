/** A month in which today, days with logs, locked days and days off are marked (docs/specification/screens.md 8). */
import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import Lock from 'lucide-react/icons/lock';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { addDays, canOpenDay, dayLabel, FIRST_DAY, MONTHS, type Day } from '#domain/day/day.ts';
import {
  inMonth,
  monthOf,
  weekdaysFrom,
  weeksOfMonth,
  weekStartOf,
  yearOf,
  type MonthNumber,
  type WeekStart,
} from '#domain/day/month.ts';
import { isTimeOff, type TimeOff } from '#domain/day/time-off.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { chooseWeekStart, localWeekStart, storedWeekStart } from '#client/lib/session/browser-preferences.ts';
import styles from './calendar-dialog.module.css';
import { MonthsAndYears } from './months-and-years.tsx';

type MonthCalendarProps = {
  /** The selected day; its month is shown first. */
  date: Day;
  today: Day;
  premium: boolean;
  datesWithEntries: readonly Day[];
  /** Days off get a quiet mark. */
  timeOff?: readonly TimeOff[];
  /** Disables days that have a log or are locked. */
  emptyOnly?: boolean;
  onSelect: (day: Day) => void;
};

/** How many days a key searches at most, in each direction, for a day that can be selected. */
const MAX_STEPS = 400;

export function MonthCalendar({
  date,
  today,
  premium,
  datesWithEntries,
  timeOff = [],
  emptyOnly,
  onSelect,
}: MonthCalendarProps) {
  const grid = useRef<HTMLTableElement>(null);
  const [month, setMonth] = useState(() => monthOf(date));
  const [isChoosingMonth, setChoosingMonth] = useState(false);
  /** The day that a key has moved the focus to. */
  const [reached, setReached] = useState(date);
  const [chosenStart, setChosenStart] = useState(storedWeekStart);
  const weekStart = chosenStart ?? 'Sunday';
  const logged = useMemo(() => new Set(datesWithEntries), [datesWithEntries]);
  const last = datesWithEntries.reduce((latest, day) => (day > latest ? day : latest), today);
  const isLockedDay = (day: Day): boolean => isLocked(day, premium, today);
  const isEnabled = (day: Day): boolean =>
    canOpenDay(day, today, logged.has(day)) && !(emptyOnly && (logged.has(day) || isLockedDay(day)));

  const weeks = weeksOfMonth(month, weekStart);
  const enabled = weeks.flat().filter((day) => day !== null && isEnabled(day));
  const current = [reached, date].find((day) => enabled.includes(day)) ?? enabled.at(-1);

  const takesFocus = useRef(true);
  useEffect(() => {
    if (isChoosingMonth || !takesFocus.current) return;
    takesFocus.current = false;
    // In a microtask, because the dialog moves the focus in an effect that runs after this one.
    queueMicrotask(() => grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  });
  const chooseMonth = (isOpen: boolean): void => {
    takesFocus.current = !isOpen;
    setChoosingMonth(isOpen);
  };

  const clamp = (next: MonthNumber): MonthNumber => Math.max(monthOf(FIRST_DAY), Math.min(next, monthOf(last)));
  /** Searches on from the target of a key, then back towards the day that it started from. */
  const nearestEnabled = (from: Day, target: Day): Day => {
    const step = target < from ? -1 : 1;
    for (const direction of [step, -step]) {
      let day = target < FIRST_DAY ? FIRST_DAY : target > last ? last : target;
      for (let steps = 0; steps < MAX_STEPS && day >= FIRST_DAY && day <= last; steps += 1) {
        if (isEnabled(day)) return day;
        day = addDays(day, direction);
      }
    }
    return from;
  };
  const onKeyDown = (event: KeyboardEvent, from: Day): void => {
    const months = event.shiftKey ? 12 : 1;
    const targets: Readonly<Record<string, () => Day>> = {
      ArrowLeft: () => addDays(from, -1),
      ArrowRight: () => addDays(from, 1),
      ArrowUp: () => addDays(from, -7),
      ArrowDown: () => addDays(from, 7),
      Home: () => weekStartOf(from, weekStart),
      End: () => addDays(weekStartOf(from, weekStart), 6),
      PageUp: () => inMonth(from, clamp(month - months)),
      PageDown: () => inMonth(from, clamp(month + months)),
    };
    const target = targets[event.key]?.();
    // Keys with Alt, Ctrl or Meta are shortcuts of the journal or the browser.
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = nearestEnabled(from, target);
    setMonth(monthOf(next));
    setReached(next);
    takesFocus.current = true;
  };

  const title = `${MONTHS[month % 12]!} ${yearOf(month)}`;
  const move = (label: string, by: 1 | -1, Icon: typeof ChevronLeft) => (
    <button
      type="button"
      className={styles.navButton}
      aria-label={label}
      aria-disabled={clamp(month + by) === month}
      onClick={() => setMonth(clamp(month + by))}
    >
      <Icon aria-hidden />
    </button>
  );
  return (
    <>
      <div className={styles.root} hidden={isChoosingMonth}>
        <div className={styles.caption}>
          <span role="status">
            <button
              type="button"
              className={styles.captionButton}
              aria-expanded={false}
              onClick={() => chooseMonth(true)}
              title="Months and years"
            >
              {title}
            </button>
          </span>
        </div>
        <div className={styles.nav}>
          {move('Previous month', -1, ChevronLeft)}
          {move('Next month', 1, ChevronRight)}
        </div>
        {/* oxlint-disable-next-line no-noninteractive-element-to-interactive-role -- the grid pattern of WAI-ARIA */}
        <table ref={grid} role="grid" aria-label={title} className={styles.grid}>
          <thead>
            <tr>
              {weekdaysFrom(weekStart).map((name) => (
                <th key={name} scope="col" abbr={name} className={styles.weekday}>
                  {name.slice(0, 2)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weeks.map((week, index) => (
              <tr key={index}>
                {week.map((day, column) =>
                  day === null ? (
                    // oxlint-disable-next-line control-has-associated-label -- a day of another month is empty
                    <td key={column} />
                  ) : (
                    <td key={column} className={styles.cell} aria-selected={day === date}>
                      <DayButton
                        date={day}
                        isToday={day === today}
                        isLogged={logged.has(day)}
                        isOff={isTimeOff(timeOff, day)}
                        isLocked={isLockedDay(day)}
                        isEnabled={isEnabled(day)}
                        isCurrent={day === current}
                        onSelect={onSelect}
                        onKeyDown={onKeyDown}
                      />
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isChoosingMonth && (
        <MonthsAndYears
          month={month}
          today={today}
          last={last}
          datesWithEntries={datesWithEntries}
          onChoose={(chosen) => {
            setMonth(chosen);
            chooseMonth(false);
          }}
          onBack={() => chooseMonth(false)}
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
        {timeOff.length > 0 && (
          <li>
            <b className={styles.offKey} aria-hidden="true">
              {Number(today.slice(-2))}
            </b>
            <span>Time off</span>
          </li>
        )}
        {!premium && (
          <li>
            <Lock aria-hidden /> Locked (Closer only)
          </li>
        )}
      </ul>
      {chosenStart === null && (
        <WeekStartOffer
          onChoose={(start) => {
            chooseWeekStart(start);
            setChosenStart(start);
          }}
        />
      )}
    </>
  );
}

type DayButtonProps = {
  date: Day;
  isToday: boolean;
  isLogged: boolean;
  isOff: boolean;
  isLocked: boolean;
  isEnabled: boolean;
  /** Tab leads to this day. */
  isCurrent: boolean;
  onSelect: (day: Day) => void;
  onKeyDown: (event: KeyboardEvent, day: Day) => void;
};

function DayButton({ date, onSelect, onKeyDown, ...is }: DayButtonProps) {
  const words = [
    dayLabel(date),
    is.isToday && 'today',
    is.isLogged && 'has entry',
    is.isOff && 'day off',
    is.isLocked && 'locked, Closer only',
  ];
  return (
    <button
      type="button"
      className={styles.day}
      aria-label={words.filter(Boolean).join(', ')}
      aria-current={is.isToday ? 'date' : undefined}
      data-locked={is.isLocked && is.isEnabled}
      data-off={is.isOff || undefined}
      disabled={!is.isEnabled}
      tabIndex={is.isCurrent ? 0 : -1}
      onClick={() => onSelect(date)}
      onKeyDown={(event) => onKeyDown(event, date)}
    >
      {Number(date.slice(-2))}
      {(is.isLogged || is.isLocked) && (
        <span className={styles.marks}>
          {is.isLogged && <span className={styles.dot} />}
          {is.isLocked && <Lock aria-hidden />}
        </span>
      )}
    </button>
  );
}

/** Offers the first day of the week of the user's region, if it is not Sunday, until the user has chosen one. */
function WeekStartOffer({ onChoose }: { onChoose: (start: WeekStart) => void }) {
  const local = localWeekStart();
  if (local === null || local === 'Sunday') return null;
  return (
    <p className={styles.offer}>
      Weeks from{' '}
      {([local, 'Sunday'] as const).map((start, index) => (
        <span key={start}>
          {index > 0 && ' or '}
          <button type="button" onClick={() => onChoose(start)}>
            {start}
          </button>
        </span>
      ))}
      ?
    </p>
  );
}
