/** `read-days` {from, to}: the caller's logs of some days as Markdown, for programs (docs/specification/capture.md 3). */
import type { Context } from 'hono';
import { addDays, isDay, type Day } from '#domain/day/day.ts';
import { writeMarkdown } from '#domain/markdown/write-markdown.ts';
import type { AsUser, Database, Identity } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { FunctionError, readBody, type FunctionCaller } from './wire.ts';

/** A month, so that an answer has 8 MB at most. */
const MAX_DAYS = 31;

const READ = `
  select date::text, content from public.entries
   where user_id = $1 and date between $2::date and $3::date and content_text <> '' order by date`;

export type ReadDaysAnswer = { success: true; days: { date: Day; markdown: string }[] };

export function readDays({ database, limiters }: { database: Database; limiters: Limiters }) {
  const limiter = limiters.createLimiter('read days', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 100,
    maxQueuedPerClient: 10,
  });
  return async function readOwnDays(context: Context<AppEnv>, caller: FunctionCaller): Promise<Response> {
    const { from, to = from } = await readBody(context);
    if (!isDay(from) || !isDay(to) || to < from || to > addDays(from, MAX_DAYS - 1))
      throw new FunctionError(400, `Send from and to, at most ${MAX_DAYS} days, such as 2026-11-28.`, {
        code: 'invalid_date',
      });
    const { rows } = await runLimited(limiter, () =>
      readOnly(database, caller.identity, (reader) =>
        reader.statement<{ date: Day; content: string }>(READ, [caller.userId, from, to]),
      ),
    );
    const days = rows.map(({ date, content }) => ({ date, markdown: writeMarkdown(content) }));
    return context.json({ success: true, days } satisfies ReadDaysAnswer, 200, { 'Cache-Control': 'no-store' });
  };
}

/** Threat: a token that may read finds a way to write. PostgreSQL refuses any write of this transaction. */
const readOnly = <T>(database: Database, identity: Identity, work: (reader: AsUser) => Promise<T>): Promise<T> =>
  database.transactAsUser(identity, async (transaction) => {
    await transaction.statement("select set_config('transaction_read_only', 'on', true)", []);
    return work(transaction);
  });
