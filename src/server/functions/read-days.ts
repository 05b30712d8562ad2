/**
 * `read-days` {from, to?} or {period, date?, time_zone?}: the caller's logs of some days as Markdown, for programs
 * (docs/specification/capture.md 3).
 */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import { isDay, addDays, WEEKDAYS, weekdayOf, type Day } from '#domain/day/day.ts';
import { FrequentWords } from '#domain/log/frequent-words.ts';
import type { YearAnswer } from '#domain/year.ts';
import type { Database, AsUser, Identity } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { authenticate, type SignedInCaller } from '../http/authenticate.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { FunctionError, readBody, findCallersDay, type FunctionCaller } from './function-request.ts';
import { dataError } from '../data/errors.ts';
import type { AccessTokens } from '../auth/keys/access-tokens.ts';
import type { ChangeStreams } from './change-streams.ts';
import { eventStream } from '../http/event-stream.ts';
import { writeMarkdown } from '#domain/markdown/write-markdown.ts';
import type { Clock } from '../clock.ts';

// `year-summary` {year}: the days of a year, and the tags and names that its logs mention most
// (docs/specification/year.md 5).

/** Only the beginning of a longer log is read for tags and names. Threat: a year of full logs has 94 MB. */
const MAX_LOG_CHARS = 8_000;

/** Threat: to find the tags and names of a year of hostile logs takes a second. Other requests get a turn after this. */
const MAX_TURN_MS = 10;

/** `entry_dates` has the dates of locked days too; the policies of `entries` decide about scores and texts. */
const READ_YEAR = `
  select d.date::text, e.hustle_score as score, left(e.content_text, ${MAX_LOG_CHARS}) as text
    from public.entry_dates d left join public.entries e on e.user_id = d.user_id and e.date = d.date
   where d.user_id = $1 and d.date between $2::date and $3::date order by d.date`;
const READ_FIRST = 'select min(date)::text as first from public.entry_dates where user_id = $1';

type Row = { date: Day; score: number | null; text: string | null };

const SUMMARIES = { maxRunning: 2, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 5 };

export function summarizeYear({ database, limiters }: { database: Database; limiters: Limiters }) {
  const limiter = limiters.createLimiter('year', SUMMARIES);

  return async function summarize(context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> {
    const { year } = await readBody(context);
    const [from, to] = typeof year === 'string' ? [`${year}-01-01`, `${year}-12-31`] : [];
    if (!isDay(from) || !isDay(to)) {
      throw new FunctionError(400, 'A year is a text of four digits');
    }
    return context.json(await runLimited(limiter, () => readYear(database, caller, from, to)));
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
  // An emptied log keeps its row, but its day does not count as logged.
  const logged = rows.filter(({ text }) => text !== '');
  const texts = logged.flatMap(({ text }) => text ?? []);
  const words = new FrequentWords();
  let turnEndsAt = performance.now() + MAX_TURN_MS;
  for (const text of texts) {
    words.add(text);
    if (performance.now() < turnEndsAt) continue;
    await setImmediate();
    turnEndsAt = performance.now() + MAX_TURN_MS;
  }
  return {
    success: true,
    days: logged.map(({ date, score, text }) => ({
      date,
      score,
      lines: text === null ? null : text.split('\n').length,
    })),
    first: firstRows[0]?.first ?? null,
    tags: words.tags(),
    names: words.names(),
  };
}

// `GET changes`: streams which of the caller's days have changed (docs/specification/live.md 1).

/** An event has at most 200 bytes, so the unread events of a stream take at most 40 kB. */
const MAX_UNREAD_EVENTS = 200;

type ChangesDeps = {
  config: { publishableKey: string };
  accessTokens: Pick<AccessTokens, 'verify'>;
  changeStreams: ChangeStreams;
};

export function streamChanges({ config, accessTokens, changeStreams }: ChangesDeps) {
  const { publishableKey } = config;
  return (context: Context<AppEnv>, { userId }: SignedInCaller): Response => {
    const authorization = context.req.header('authorization');
    const events = changeStreams.open({
      userId,
      lastEventId: context.req.header('last-event-id'),
      authenticate: () => authenticate(authorization, { accessTokens, publishableKey }),
    });
    if (!events) throw dataError('PGRST000', { message: 'Too many streams are open. Please try again in a moment' });
    return eventStream(events, { maxUnread: MAX_UNREAD_EVENTS });
  };
}

/** A month, so that a request reads at most 8 MB of logs. */
const MAX_DAYS = 31;

const READ = `
  select date::text, content from public.entries
   where user_id = $1 and date between $2::date and $3::date and content_text <> '' order by date`;

export type ReadDaysAnswer = { success: true; from: Day; to: Day; days: { date: Day; markdown: string }[] };

type Deps = { database: Database; clock: Clock; limiters: Limiters };

const READS = { maxRunning: 2, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };

export function readDays(deps: Deps) {
  const { database, limiters } = deps;
  const limiter = limiters.createLimiter('read days', READS);
  return async function readOwnDays(context: Context<AppEnv>, caller: FunctionCaller): Promise<Response> {
    const { from, to } = await readRange(deps, caller, await readBody(context));
    const { rows } = await runLimited(limiter, () =>
      readOnly(database, caller.identity, (reader) =>
        reader.statement<{ date: Day; content: string }>(READ, [caller.userId, from, to]),
      ),
    );
    const days: ReadDaysAnswer['days'] = [];
    for (const { date, content } of rows) {
      days.push({ date, markdown: writeMarkdown(content) });
      // Threat: a month of the longest logs takes seconds. Other requests go first after each of them.
      await setImmediate();
    }
    return context.json({ success: true, from, to, days } satisfies ReadDaysAnswer);
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
