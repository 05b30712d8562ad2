/** `find-entries` {query}: the days open to the caller's plan whose logs hold the words (docs/decisions/0013). */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { QUERY_MAX_LENGTH, parseSearchTerms } from '#domain/find/search.ts';
import type { FindAnswer } from '#domain/find/search.ts';
import { createConcurrencyLimiter } from '../http/requests/concurrency-limiter.ts';
import type { Database } from '../database/database.ts';
import { updateSearchIndex } from '../find/search-index.ts';
import { findDays } from '../find/find-days.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { readBody } from './read-body.ts';

/** How long one search may go on making words ready. What is not ready then is said, and the next search goes on. */
const READY_LIMIT_MS = 2_000;
const QUERY_CANCELED = '57014';

type FindDeps = { database: Database };

export function findEntries({ database }: FindDeps) {
  // Of its own and not that of the data wire: a long export keeps no search of others waiting. Somebody who types has one
  // search under way at a time, so nobody's searches hold more than one connection.
  const limiter = createConcurrencyLimiter();

  return async function find(context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> {
    if (userId === null) return answer(context, refusal('Please sign in'), 401);
    const query = await queryOf(context);
    if (query === null)
      return answer(context, refusal(`A query is a text of up to ${QUERY_MAX_LENGTH} characters`), 400);
    const words = parseSearchTerms(query);
    if (words.length === 0) return answer(context, { success: true, results: [], more: false, complete: true });

    const { signal } = context.req.raw;
    let end: (() => void) | null = null;
    try {
      end = await limiter.acquire(userId);
      // Typed on meanwhile: nobody waits for this answer any more.
      if (signal.aborted) return new Response(null, { status: 204 });
      const until = performance.now() + READY_LIMIT_MS;
      const mayGoOn = (): boolean => !signal.aborted && performance.now() < until;
      const caller = { identity, userId };
      const found = await findDays(database, caller, words);
      if (found) return answer(context, { success: true, ...found, complete: true });
      const complete = await updateSearchIndex(database, caller, mayGoOn);
      return answer(context, { success: true, ...(await findDays(database, caller, words, true))!, complete });
    } catch (error) {
      if (!tookTooLong(error)) throw error;
      return answer(context, refusal('That search took too long. Try a longer word'), 503);
    } finally {
      end?.();
    }
  };
}

async function queryOf(context: Context<AppEnv>): Promise<string | null> {
  const { query } = await readBody(context);
  return typeof query === 'string' && query.length <= QUERY_MAX_LENGTH ? query : null;
}

const tookTooLong = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === QUERY_CANCELED;

const refusal = (error: string): FindAnswer => ({ success: false, error });

function answer(context: Context<AppEnv>, body: FindAnswer, status: ContentfulStatusCode = 200): Response {
  // Somebody's journal: no proxy and no browser cache may keep a copy.
  context.header('Cache-Control', 'no-store');
  return context.json(body, status);
}
