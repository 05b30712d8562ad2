/** `find-entries` {query}: finds the caller's open days whose logs contain the words (docs/decisions/0013). */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { QUERY_MAX_LENGTH, parseSearchTerms, type FindAnswer } from '#domain/match-search.ts';
import type { Limiters } from '../load/limiters.ts';
import { QUERY_CANCELED, sqlStateOf } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { updateSearchIndex } from '../find/search-index.ts';
import { findDays } from '../find/find-days.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { readBody } from './read-body.ts';

/**
 * Time limit for updating the search index. After this time the answer is marked incomplete; the next search continues.
 */
const INDEX_UPDATE_LIMIT_MS = 2_000;

type FindDeps = { database: Database; limiters: Limiters };

export function findEntries({ database, limiters }: FindDeps) {
  // Separate from the limiter of the data wire, so that a long export delays no search. One search per user runs at a
  // time, so typing holds at most one connection.
  const limiter = limiters.createLimiter('find', {
    maxRunning: 4,
    maxPerClient: 1,
    maxQueued: 100,
    maxQueuedPerClient: 10,
  });

  return async function find(context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> {
    if (userId === null) return answer(context, refusal('Please sign in'), 401);
    const query = await readQuery(context);
    if (query === null)
      return answer(context, refusal(`A query is a text of up to ${QUERY_MAX_LENGTH} characters`), 400);
    const words = parseSearchTerms(query);
    if (words.length === 0) return answer(context, { success: true, results: [], more: false, complete: true });

    const { signal } = context.req.raw;
    let release: (() => void) | null = null;
    try {
      release = await limiter.acquire();
      // The client has aborted this search, usually because the user typed on.
      if (signal.aborted) return new Response(null, { status: 204 });
      const deadline = performance.now() + INDEX_UPDATE_LIMIT_MS;
      const shouldContinue = (): boolean => !signal.aborted && performance.now() < deadline;
      const caller = { identity, userId };
      const found = await findDays(database, caller, words);
      if (found) return answer(context, { success: true, ...found, complete: true });
      const complete = await updateSearchIndex(database, caller, shouldContinue);
      return answer(context, { success: true, ...(await findDays(database, caller, words, true))!, complete });
    } catch (error) {
      if (sqlStateOf(error) !== QUERY_CANCELED) throw error;
      return answer(context, refusal('That search took too long. Try a longer word'), 503);
    } finally {
      release?.();
    }
  };
}

async function readQuery(context: Context<AppEnv>): Promise<string | null> {
  const { query } = await readBody(context);
  return typeof query === 'string' && query.length <= QUERY_MAX_LENGTH ? query : null;
}

const refusal = (error: string): FindAnswer => ({ success: false, error });

function answer(context: Context<AppEnv>, body: FindAnswer, status: ContentfulStatusCode = 200): Response {
  // Private data: no proxy or browser may cache it.
  context.header('Cache-Control', 'no-store');
  return context.json(body, status);
}
