/** One year on one page: its days, its workdays, its scores, and what its logs mention most (year.md 5). */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { dateLabel, isDay, MONTHS, type Day } from '#domain/day/day.ts';
import { daysOfMonth } from '#domain/day/month.ts';
import { isTimeOff, countWorkdays, type TimeOff } from '#domain/day/time-off.ts';
import { scoreBand, trendSentence } from '#domain/coach/hustle-score.ts';
import type { Mention } from '#domain/log/frequent-words.ts';
import { dayPath, ROUTES, yearPath } from '#domain/routes.ts';
import { busiestMonthText, monthFacts, type MonthFacts, type YearAnswer, type YearDay } from '#domain/year.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { Link, useTitle, useNavigate } from '#client/lib/navigation.ts';
import { useUser } from '#client/lib/session/session.ts';
import { ENTRY_CACHE_KEY } from '#client/sync/entries/entry-queries.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { BackToJournal, Page } from '#client/ui/page/page.tsx';
import { UpgradeLink } from '#client/ui/plan/upgrade-button.tsx';
import { usePreferences } from '#client/ui/use-preferences.ts';
import { useRovingTabindex } from '#client/ui/use-roving-tabindex.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';
import styles from './year-screen.module.css';

export function YearScreen() {
  const today = useToday();
  const navigate = useNavigate();
  const given = location.pathname.split('/')[2] ?? '';
  const thisYear = today.slice(0, 4);
  const isYear = isDay(`${given}-01-01`) && given <= thisYear;
  // The address of this year replaces one whose year is invalid or in the future.
  useEffect(() => void (isYear || navigate(yearPath(thisYear), { replace: true })), [isYear, navigate, thisYear]);
  const year = isYear ? given : thisYear;
  return <YearPage key={year} year={year} today={today} />;
}

function YearPage({ year, today }: { year: string; today: Day }) {
  useTitle(year);
  const { callFunction } = useSupabase();
  const { id } = useUser();
  const { data, isError, isFetching, refetch } = useQuery({
    queryKey: [...ENTRY_CACHE_KEY, 'year', id, year],
    queryFn: async ({ signal }): Promise<YearAnswer> => {
      const answer = await callFunction('year-summary', { year }, signal);
      if (!answer.success) throw new Error('the year could not be read');
      return answer as unknown as YearAnswer;
    },
    staleTime: 0,
    networkMode: 'always',
  });
  const number = Number(year);
  return (
    <Page title={year} back={<BackToJournal />}>
      <nav className={styles.years} aria-label="Years">
        {data?.first && data.first.slice(0, 4) < year && (
          <Link to={yearPath(String(number - 1).padStart(4, '0'))}>{number - 1}</Link>
        )}
        {year < today.slice(0, 4) && <Link to={yearPath(String(number + 1).padStart(4, '0'))}>{number + 1}</Link>}
        {data && data.days.length > 0 && <Button onClick={() => print()}>Print</Button>}
      </nav>
      {data ? (
        <Year year={number} today={today} answer={data} />
      ) : isError ? (
        <div className={styles.failed}>
          <Notice kind="error">
            Couldn't load this year. Your logs are safe. Check your connection and try again.
          </Notice>
          <Button onClick={() => void refetch()} busy={isFetching} busyLabel="Loading...">
            Try again
          </Button>
        </div>
      ) : (
        <LoadingText />
      )}
    </Page>
  );
}

function Year({ year, today, answer }: { year: number; today: Day; answer: YearAnswer }) {
  const { ranges: timeOff } = useTimeOff();
  const { workdays: weekdays } = usePreferences().preferences;
  const { days, first, tags, names } = answer;
  if (days.length === 0) return <EmptyYear year={year} isOver={year < Number(today.slice(0, 4))} />;
  const hasLocked = days.some(({ lines }) => lines === null);
  const scored = days.flatMap(({ date, score }) => (score === null ? [] : [{ date, score }]));
  const isOver = year < Number(today.slice(0, 4));
  const sentences = [
    workdaysSentence(year, today, answer, { timeOff, workdays: weekdays }),
    // The server sends only the dates of locked days, so no month can be called the busiest.
    hasLocked || first === null ? null : busiestMonthText(days),
    trendSentence(scored, isOver ? (`${String(year).padStart(4, '0')}-12-31` as Day) : today),
  ].filter((sentence) => sentence !== null);
  return (
    <>
      {sentences.map((sentence, index) => (
        <p key={sentence} className={index === 0 ? styles.lead : styles.fact}>
          {sentence}
        </p>
      ))}
      <YearGrid year={year} today={today} days={days} timeOff={timeOff} />
      <Mentions title="Tags" mentions={tags} />
      <Mentions title="Names" mentions={names} />
      {hasLocked && (
        <p className={styles.note}>
          Scores, tags and names of older days belong to Closer.{' '}
          <UpgradeLink feature="historical-logs" className={styles.link} />
        </p>
      )}
    </>
  );
}

function EmptyYear({ year, isOver }: { year: number; isOver: boolean }) {
  if (isOver) return <p className={styles.lead}>No logs in {year}.</p>;
  return (
    <>
      <p className={styles.lead}>No logs in {year} yet.</p>
      <p className={styles.fact}>
        <Link to={ROUTES.journal.path}>Write today’s log</Link>
      </p>
    </>
  );
}

/** `You accounted for 231 of 251 workdays.` Workdays before the first log of all don't count. */
function workdaysSentence(
  year: number,
  today: Day,
  { days, first }: YearAnswer,
  work: { timeOff: readonly TimeOff[]; workdays: readonly number[] },
): string | null {
  const [from, to] = [daysOfMonth(year * 12)[0]!, daysOfMonth(year * 12 + 11).at(-1)!];
  const logged = new Set(days.map(({ date }) => date));
  if (first !== null) logged.add(first);
  const { accounted, workdays } = countWorkdays(from, to, today, logged, work);
  if (workdays === 0) return null;
  return `You accounted for ${accounted} of ${workdays} ${workdays === 1 ? 'workday' : 'workdays'}.`;
}

type YearGridProps = { year: number; today: Day; days: readonly YearDay[]; timeOff: readonly TimeOff[] };

/** A row for each month and a cell for each day, which opens the day. */
function YearGrid({ year, today, days: logged, timeOff }: YearGridProps) {
  const navigate = useNavigate();
  const [tapped, setTapped] = useState<Day | null>(null);
  const isTouch = useRef(false);
  const months = MONTHS.map((_name, index) => daysOfMonth(year * 12 + index));
  const facts = monthFacts(logged);
  const byDate = new Map(logged.map((day) => [day.date, day]));
  const dates = months.flat();
  const isOff = (date: Day): boolean => isTimeOff(timeOff, date);
  const first = dates.indexOf(logged.at(-1)!.date);
  const roving = useRovingTabindex(dates.length, first, (key, at) => {
    const date = moveInYear(months, key, dates[at]!);
    return date && dates.indexOf(date);
  });
  const choose = (date: Day): void => {
    // A finger covers several days, so a tap only names the day, with a link that opens it.
    if (isTouch.current) setTapped(date);
    else void navigate(dayPath(date));
    isTouch.current = false;
  };
  const textOf = (date: Day): string => titleOf(date, byDate.get(date), isOff(date));
  return (
    <section className={styles.days} aria-label={`Days of ${year}`}>
      <div role="grid" aria-label={`Days of ${year}, by month`} aria-readonly="true">
        {months.map((monthDays, index) => (
          <div key={MONTHS[index]} role="row" className={styles.month}>
            <span role="rowheader" className={styles.name} aria-label={monthLabel(MONTHS[index]!, facts[index]!)}>
              {MONTHS[index]!.slice(0, 3)}
            </span>
            <span className={styles.cells}>
              {monthDays.map((date) => (
                <i
                  key={date}
                  {...roving(dates.indexOf(date), () => choose(date))}
                  role="gridcell"
                  data-shade={shadeOf(byDate.get(date), isOff(date))}
                  aria-label={textOf(date)}
                  title={textOf(date)}
                  onPointerDown={(event) => void (isTouch.current = event.pointerType === 'touch')}
                />
              ))}
            </span>
            <span className={styles.logs} aria-hidden="true">
              {facts[index]!.logs > 0 && logsText(facts[index]!.logs)}
            </span>
            <span className={styles.band} aria-hidden="true">
              {facts[index]!.score !== null && `${facts[index]!.score} · ${facts[index]!.band}`}
            </span>
          </div>
        ))}
      </div>
      {dates.some((date) => date <= today && isOff(date) && !byDate.has(date)) && (
        <p className={styles.legend} aria-hidden="true">
          <i data-shade="off" /> Time off
        </p>
      )}
      <p role="status" className={styles.tapped}>
        {tapped && (
          <>
            {textOf(tapped)}. <Link to={dayPath(tapped)}>Open</Link>
          </>
        )}
      </p>
    </section>
  );
}

const logsText = (count: number): string => `${count} ${count === 1 ? 'log' : 'logs'}`;

const monthLabel = (name: string, { logs, score, band }: MonthFacts): string =>
  `${name}: ${logsText(logs)}${score === null ? '' : `, ${score} of 10, ${band}`}`;

const shadeOf = (day: YearDay | undefined, isOff: boolean): string =>
  day === undefined ? (isOff ? 'off' : 'none') : day.score === null ? 'log' : scoreBand(day.score).name;

/** The tooltip of a day. The server sends only the date of a locked day. */
function titleOf(date: Day, day: YearDay | undefined, isOff: boolean): string {
  const label = dateLabel(date);
  if (!day) return isOff ? `${label}: day off` : label;
  if (day.lines === null) return `${label}: a log, Closer only`;
  return `${label}: ${day.score === null ? 'a log' : `${day.score} of 10, ${scoreBand(day.score).word}`}`;
}

/** The day that a key leads to; null for a key that does not move, and beyond the year. */
function moveInYear(months: readonly (readonly Day[])[], key: string, from: Day): Day | null {
  const month = Number(from.slice(5, 7)) - 1;
  const days = months[month]!;
  const day = Number(from.slice(8)) - 1;
  const inMonth = (index: number): Day | null => {
    const other = months[index];
    return other ? other[Math.min(day, other.length - 1)]! : null;
  };
  switch (key) {
    case 'ArrowLeft':
      return days[day - 1] ?? months[month - 1]?.at(-1) ?? null;
    case 'ArrowRight':
      return days[day + 1] ?? months[month + 1]?.[0] ?? null;
    case 'ArrowUp':
      return inMonth(month - 1);
    case 'ArrowDown':
      return inMonth(month + 1);
    case 'Home':
      return days[0]!;
    case 'End':
      return days.at(-1)!;
    default:
      return null;
  }
}

/** The tags or the names that the year's logs mention most. Each opens Find with its words. */
function Mentions({ title, mentions }: { title: string; mentions: readonly Mention[] }) {
  if (mentions.length === 0) return null;
  return (
    <section className={styles.mentions} aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {mentions.map(({ text, days }) => (
          <li key={text}>
            <Link to={`${ROUTES.journal.path}?find=${encodeURIComponent(text)}`}>
              <bdi>{text}</bdi>
            </Link>{' '}
            <span>
              {days} {days === 1 ? 'day' : 'days'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
