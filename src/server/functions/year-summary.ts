/** `year-summary` {year}: the days of a year, and the tags and names that its logs mention most (year.md 5). */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import { isDay, type Day } from '#domain/day/day.ts';
import { frequentNames, frequentTags, readLogWords, type LogWords } from '#domain/log/frequent-words.ts';
import type { YearAnswer } from '#domain/year-summary.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { FunctionError, readBody } from './wire.ts';

/** Private data: no proxy or browser may cache it. */
const NOT_CACHED = { 'Cache-Control': 'no-store' };

/** Of longer logs the beginning is read for tags and names. Threat: a year of full logs has 94 MB. */
const MAX_LOG_CHARS = 8_000;

const LOGS_WITHOUT_YIELD = 20;

/** `entry_dates` has the dates of locked days too; the policies of `entries` decide about scores and texts. */
const READ_YEAR = `
  select d.date::text, e.hustle_score as score, left(e.content_text, ${MAX_LOG_CHARS}) as text
    from public.entry_dates d left join public.entries e on e.user_id = d.user_id and e.date = d.date
   where d.user_id = $1 and d.date between $2::date and $3::date order by d.date`;
const READ_FIRST = 'select min(date)::text as first from public.entry_dates where user_id = $1';

type Row = { date: Day; score: number | null; text: string | null };

export function summarizeYear({ database, limiters }: { database: Database; limiters: Limiters }) {
  const limiter = limiters.createLimiter('year', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 100,
    maxQueuedPerClient: 5,
  });

  return async function summarize(context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> {
    const { year } = await readBody(context);
    const [from, to] = typeof year === 'string' ? [`${year}-01-01`, `${year}-12-31`] : [];
    if (!isDay(from) || !isDay(to)) {
      throw new FunctionError(400, 'A year is a text of four digits', { headers: NOT_CACHED });
    }
    return context.json(await runLimited(limiter, () => readYear(database, caller, from, to)), 200, NOT_CACHED);
  };
}

async function readYear(
  database: Database,
  { identity, userId }: SignedInCaller,
  from: Day,
  to: Day,
): Promise<YearAnswer> {
  const user = database.asUser(identity);
  const [{ rows }, { rows: firstRows }] = await Promise.all([
    user.statement<Row>(READ_YEAR, [userId, from, to]),
    user.statement<{ first: Day | null }>(READ_FIRST, [userId]),
  ]);
  // An emptied log has a row, and is no log.
  const logged = rows.filter(({ text }) => text !== '');
  const texts = logged.flatMap(({ text }) => text ?? []);
  const words: LogWords[] = [];
  for (const [index, text] of texts.entries()) {
    words.push(readLogWords(text));
    // A year of logs takes some 30 ms, of long ones four times as long: yield to the event loop.
    if (index % LOGS_WITHOUT_YIELD === 0) await setImmediate();
  }
  return {
    success: true,
    days: logged.map(({ date, score, text }) => ({
      date,
      score,
      lines: text === null ? null : text.split('\n').length,
    })),
    first: firstRows[0]?.first ?? null,
    tags: frequentTags(texts),
    names: frequentNames(words),
  };
}
