import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import Ellipsis from 'lucide-react/icons/ellipsis';
import Menu from 'lucide-react/icons/menu';
import Sparkle from 'lucide-react/icons/sparkle';
import { useState } from 'react';
import { dateLabel, FIRST_DAY, weekdayOf, relativeDayLabel, type Day } from '#domain/day/day.ts';
import { withDayKey } from '#client/lib/keys.ts';
import { IconButton } from '#client/ui/button.tsx';
import styles from './day-bar.module.css';

type DayBarProps = {
  date: Day | null;
  today: Day;
  onPrevious: () => void;
  /** Null if the next day cannot be opened yet. */
  onNext: (() => void) | null;
  onToday: () => void;
  onOpen: (overlay: 'menu' | 'day' | 'calendar') => void;
  onOpenFeedback: () => void;
};

export function DayBar({ date, today, onPrevious, onNext, onToday, onOpen, onOpenFeedback }: DayBarProps) {
  const hasNewDay = useHasNewDay(date, today);
  return (
    <header className={styles.bar}>
      <IconButton label="Open menu" onClick={() => onOpen('menu')}>
        <Menu aria-hidden />
      </IconButton>
      <div className={styles.day}>
        <IconButton
          label="Previous day"
          title={withDayKey('previous')}
          className={styles.arrow}
          onClick={onPrevious}
          disabled={date === null || date === FIRST_DAY}
        >
          <ChevronLeft aria-hidden />
        </IconButton>
        <h1 className={styles.heading} tabIndex={-1}>
          {date !== null && (
            <button
              type="button"
              className={styles.label}
              data-today={date === today}
              title={withDayKey('calendar')}
              onClick={() => onOpen('calendar')}
              aria-haspopup="dialog"
            >
              {weekdayOf(date)}
              <i> - </i>
              <span>{dateLabel(date)}</span>
            </button>
          )}
        </h1>
        {/* Not `disabled`: the step to today would take the keyboard focus from the button. */}
        <IconButton
          label="Next day"
          title={withDayKey('next')}
          className={styles.arrow}
          onClick={onNext ?? undefined}
          aria-disabled={onNext === null}
        >
          <ChevronRight aria-hidden />
        </IconButton>
        <IconButton
          label="Actions for this day"
          className={styles.arrow}
          onClick={() => onOpen('day')}
          disabled={date === null}
          aria-haspopup="menu"
        >
          <Ellipsis aria-hidden />
        </IconButton>
      </div>
      <IconButton label="Open feedback" onClick={onOpenFeedback} disabled={date === null}>
        <Sparkle aria-hidden />
      </IconButton>
      <div className={styles.today}>
        {date !== null && date !== today && (
          <>
            {!hasNewDay && <span>{relativeDayLabel(date, today)}</span>}
            <button type="button" title={withDayKey('today')} onClick={onToday}>
              {hasNewDay ? `It is ${weekdayOf(today)} now` : 'Go to today'}
            </button>
          </>
        )}
      </div>
    </header>
  );
}

/** True if a new day has begun while this day was open: the page keeps the day and offers the new one. */
function useHasNewDay(date: Day | null, today: Day): boolean {
  const [seen, setSeen] = useState({ today, left: null as Day | null });
  if (seen.today !== today) setSeen({ today, left: seen.today });
  return date !== null && date === seen.left;
}
