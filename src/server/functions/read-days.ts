/** `read-days` {from, to?} or {period, date?, time_zone?}: the caller's logs of some days as Markdown, for programs (docs/specification/capture.md 3). */
import type { Context } from 'hono';
import { addDays, isDay, WEEKDAYS, weekdayOf, type Day } from '#domain/day/day.ts';
import { writeMarkdown } from '#domain/markdown/write-markdown.ts';
import type { Clock } from '../clock.ts';
import type { AsUser, Database, Identity } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { findCallersDay, FunctionError, readBody, type FunctionCaller } from './wire.ts';

/** A month, so that an answer has 8 MB at most. */
const MAX_DAYS = 31;

const READ = `
  select date::text, content from public.entries
   where user_id = $1 and date between $2::date and $3::date and content_text <> '' order by date`;

export type ReadDaysAnswer = { success: true; from: Day; to: Day; days: { date: Day; markdown: string }[] };

type Deps = { database: Database; clock: Clock; limiters: Limiters };

export function readDays(deps: Deps) {
  const { database, limiters } = deps;
  const limiter = limiters.createLimiter('read days', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 100,
    maxQueuedPerClient: 10,
  });
  return async function readOwnDays(context: Context<AppEnv>, caller: FunctionCaller): Promise<Response> {
    const { from, to } = await readRange(deps, caller, await readBody(context));
    const { rows } = await runLimited(limiter, () =>
      readOnly(database, caller.identity, (reader) =>
        reader.statement<{ date: Day; content: string }>(READ, [caller.userId, from, to]),
      ),
    );
    const days = rows.map(({ date, content }) => ({ date, markdown: writeMarkdown(content) }));
    return context.json({ success: true, from, to, days } satisfies ReadDaysAnswer, 200, {
      'Cache-Control': 'no-store',
    });
  };
}

const INVALID = `Send from and to, at most ${MAX_DAYS} days, such as 2026-11-28, or the period "day" or "week".`;

type Range = { from: Day; to: Day };

async function readRange(deps: Deps, caller: FunctionCaller, body: Record<string, unknown>): Promise<Range> {
  const { period, date, from, to = from } = body;
  if (period === 'day' || period === 'week') {
    if (date !== undefined && date !== null && !isDay(date))
      throw new FunctionError(400, INVALID, { code: 'invalid_date' });
    const day = isDay(date) ? date : await findCallersDay(deps, caller, body['time_zone']);
    return period === 'day' ? { from: day, to: day } : weekOf(day);
  }
  if (!isDay(from) || !isDay(to) || to < from || to > addDays(from, MAX_DAYS - 1))
    throw new FunctionError(400, INVALID, { code: 'invalid_date' });
  return { from, to };
}

/** From Monday to Sunday; the last week of year 9999 ends with the year. */
function weekOf(day: Day): Range {
  const monday = addDays(day, -((WEEKDAYS.indexOf(weekdayOf(day)) + 6) % 7));
  const sunday = addDays(monday, 6);
  return { from: monday, to: isDay(sunday) ? sunday : ('9999-12-31' as Day) };
}

/** Threat: a token that may read finds a way to write. PostgreSQL refuses any write of this transaction. */
const readOnly = <T>(database: Database, identity: Identity, work: (reader: AsUser) => Promise<T>): Promise<T> =>
  database.transactAsUser(identity, async (transaction) => {
    await transaction.statement("select set_config('transaction_read_only', 'on', true)", []);
    return work(transaction);
  });
