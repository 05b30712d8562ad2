/** One year on one page: its days, its workdays, its scores, and what its logs mention most (year.md 5). */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { dateLabel, isDay, MONTHS, type Day } from '#domain/day/day.ts';
import { daysOfMonth } from '#domain/day/month.ts';
import type { TimeOff } from '#domain/day/time-off.ts';
import { countWorkdays } from '#domain/day/workdays.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import { trendSentence } from '#domain/coach/trend-sentence.ts';
import type { Mention } from '#domain/log/frequent-words.ts';
import { ROUTES, yearPath } from '#domain/routes.ts';
import { busiestMonthText, monthFacts, type MonthFacts, type YearAnswer, type YearDay } from '#domain/year-summary.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { useUser } from '#client/lib/session/session.ts';
import { ENTRY_CACHE_KEY } from '#client/sync/entries/entry-cache.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { BackToJournal, Page } from '#client/ui/page/page.tsx';
import { UpgradeLink } from '#client/ui/plan/upgrade-button.tsx';
import { usePreferences } from '#client/ui/use-preferences.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';
import styles from './year-screen.module.css';

export function YearScreen() {
  const today = useToday();
  const navigate = useNavigate();
  const given = location.pathname.split('/')[2] ?? '';
  const thisYear = today.slice(0, 4);
  const isYear = isDay(`${given}-01-01`) && given <= thisYear;
  // An address without a year that has begun becomes that of this year.
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
    retry: false,
    staleTime: 0,
    networkMode: 'always',
  });
  const number = Number(year);
  return (
    <Page title={year} back={<BackToJournal />}>
      <nav className={styles.years} aria-label="Years">
        {number > 1 && <Link to={yearPath(String(number - 1).padStart(4, '0'))}>{number - 1}</Link>}
        {year < today.slice(0, 4) && <Link to={yearPath(String(number + 1).padStart(4, '0'))}>{number + 1}</Link>}
        {data && data.days.length > 0 && <Button onClick={() => print()}>Print</Button>}
      </nav>
      {data ? (
        <Year year={number} today={today} answer={data} />
      ) : isError ? (
        <>
          <Notice kind="error">
            Couldn't load this year. Your logs are safe. Check your connection and try again.
          </Notice>
          <Button onClick={() => void refetch()} busy={isFetching} busyLabel="Loading...">
            Try Again
          </Button>
        </>
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
  if (days.length === 0) return <p className={styles.lead}>No logs in {year}.</p>;
  const months = monthFacts(days);
  const hasLocked = days.some(({ lines }) => lines === null);
  const scored = days.flatMap(({ date, score }) => (score === null ? [] : [{ date, score }]));
  const isOver = year < Number(today.slice(0, 4));
  const sentences = [
    workdaysSentence(year, today, answer, { timeOff, workdays: weekdays }),
    // Of locked days only the date is known, so no month can be called the busiest.
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
      <section className={styles.grid} aria-label={`Days of ${year}`}>
        {MONTHS.map((name, index) => (
          <Month key={name} name={name} days={daysOfMonth(year * 12 + index)} logged={days} facts={months[index]!} />
        ))}
      </section>
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

type MonthProps = { name: string; days: readonly Day[]; logged: readonly YearDay[]; facts: MonthFacts };

function Month({ name, days, logged, facts: { logs, score, band } }: MonthProps) {
  const byDate = new Map(logged.map((day) => [day.date, day]));
  const label = `${name}: ${logs} ${logs === 1 ? 'log' : 'logs'}${score === null ? '' : `, ${score} of 10, ${band}`}`;
  return (
    <div className={styles.month} role="img" aria-label={label}>
      <span className={styles.name}>{name.slice(0, 3)}</span>
      <span className={styles.days}>
        {days.map((date) => {
          const day = byDate.get(date);
          const shade = day === undefined ? 'none' : day.score === null ? 'log' : scoreBand(day.score).name;
          return <i key={date} data-shade={shade} title={titleOf(date, day)} />;
        })}
      </span>
      <span className={styles.logs}>{logs > 0 && logs}</span>
      <span className={styles.band}>{score !== null && `${score} · ${band}`}</span>
    </div>
  );
}

function titleOf(date: Day, day: YearDay | undefined): string {
  if (!day) return dateLabel(date);
  return `${dateLabel(date)}: ${day.score === null ? 'a log' : `${day.score} of 10, ${scoreBand(day.score).word}`}`;
}

/** Each opens Find with its words. */
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
