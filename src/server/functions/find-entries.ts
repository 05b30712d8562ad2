/**
 * `find-entries` {query}: finds the days whose logs contain the words (docs/decisions/0013), among those that the
 * caller's plan opens, and the tags that complete the query.
 */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import {
  QUERY_MAX_LENGTH,
  parseSearchTerms,
  FIND_MAX_RESULTS,
  toSearchPattern,
  createSnippet,
  toSearchForm,
  type FindAnswer,
  type FoundDay,
  type SearchTerm,
} from '#domain/match-search.ts';
import { completeTag, countTags, listTags, MAX_TAGS_SHOWN, typedTag, type TagCount } from '#domain/log/tags.ts';
import { QUERY_CANCELED, sqlStateOf } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { FunctionError, readBody } from './function-request.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { Limiters } from '../load/limiters.ts';

/**
 * Time limit for updating the search index. After this time the answer is marked incomplete; the next search continues.
 */
const INDEX_UPDATE_LIMIT_MS = 2_000;

type FindDeps = { database: Database; limiters: Limiters };

const SEARCHES = { maxRunning: 4, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };

export function findEntries({ database, limiters }: FindDeps) {
  // Separate from the limiter of the data API, so that a long export delays no search. One search per user runs at a
  // time, so typing holds at most one connection.
  const limiter = limiters.createLimiter('find', SEARCHES);

  return async function find(context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> {
    const query = await readQuery(context);
    const wanted: Wanted = { words: parseSearchTerms(query), tag: typedTag(query) };
    if (wanted.words.length === 0 && wanted.tag === null)
      return context.json({ success: true, ...NOTHING, complete: true } satisfies FindAnswer);

    const { signal } = context.req.raw;
    let release: (() => void) | null = null;
    try {
      release = await limiter.acquire();
      // The client has aborted this search, usually because the user typed on.
      if (signal.aborted) return new Response(null, { status: 204 });
      const deadline = performance.now() + INDEX_UPDATE_LIMIT_MS;
      const shouldContinue = (): boolean => !signal.aborted && performance.now() < deadline;
      const found = await findWanted(database, caller, wanted, false);
      if (found) return context.json({ success: true, ...found, complete: true } satisfies FindAnswer);
      const complete = await updateSearchIndex(database, caller, shouldContinue);
      return context.json({
        success: true,
        ...(await findWanted(database, caller, wanted, true))!,
        complete,
      } satisfies FindAnswer);
    } catch (error) {
      if (sqlStateOf(error) !== QUERY_CANCELED) throw error;
      throw new FunctionError(503, 'That search took too long. Try a longer word');
    } finally {
      release?.();
    }
  };
}

/** `tag`: the one that is being typed; null without one. */
type Wanted = { words: readonly SearchTerm[]; tag: string | null };
type Found = { results: FoundDay[]; more: boolean; tags?: TagCount[] };
const NOTHING: Found = { results: [], more: false };

/** Null when the index is stale and `allowStale` is false. */
async function findWanted(
  database: Database,
  caller: SignedInCaller,
  { words, tag }: Wanted,
  allowStale: boolean,
): Promise<Found | null> {
  const found = words.length === 0 ? NOTHING : await findDays(database, caller, words, allowStale);
  if (found === null || tag === null) return found;
  const tags = await readTags(database, caller, allowStale);
  return tags && { ...found, tags: completeTag(tag, tags).slice(0, MAX_TAGS_SHOWN) };
}

async function readQuery(context: Context<AppEnv>): Promise<string> {
  const { query } = await readBody(context);
  if (typeof query === 'string' && query.length <= QUERY_MAX_LENGTH) return query;
  throw new FunctionError(400, `A query is a text of up to ${QUERY_MAX_LENGTH} characters`);
}

// Searches the user's logs, newest first, under row-level security.
//
// Threat: a full-text index over all users would leak through timing how often others write a word. Only the user's own
// rows are scanned. The scan is fast enough: 3,650 logs of 2 KB take 10 to 15 ms (docs/decisions/0013).

/** The time limit of the statement. Ten years of typical logs need far less. */
const TIME_LIMIT_MS = 3_000;
/** Longer logs are read only around the match for the snippet. */
const MAX_WHOLE_READ_BYTES = 8_192;
const SNIPPET_CONTEXT_CHARS = 2_000;

/**
 * Whether the index row of a log is missing or of an earlier text. `tags_revision`, because an older server sets
 * `revision` alone.
 */
const IS_STALE = 'w.tags_revision is distinct from e.revision';

/**
 * Builds the statement for a number of words; the words themselves are parameters, never SQL text. If $2 is true, days
 * with a stale index row count as matches. A result without such a day lacks no match that is newer than its oldest
 * day.
 */
function statementFor(words: number): string {
  const conditions = Array.from({ length: words }, (_, index) => `strpos(w.words, $${index + 4}) > 0`);
  return `
  select e.date, ${IS_STALE} as changed,
         case when octet_length(e.content_text) <= ${MAX_WHOLE_READ_BYTES} then e.content_text
           else substr(e.content_text, greatest(1, strpos(lower(e.content_text), $3) - ${SNIPPET_CONTEXT_CHARS}), ${2 * SNIPPET_CONTEXT_CHARS})
         end as text
    from public.entries e left join public.entry_words w using (user_id, date)
   where e.user_id = $1
     and (($2 and ${IS_STALE}) or (${conditions.join(' and ')}))
   order by e.date desc limit ${FIND_MAX_RESULTS + 1}`;
}

type Row = { date: string; changed: boolean; text: string };

/** Null when the index of a found day is stale (call `updateSearchIndex` first); `allowStale` skips that check. */
export async function findDays(
  database: Database,
  { identity, userId }: SignedInCaller,
  words: readonly SearchTerm[],
  allowStale = false,
): Promise<{ results: FoundDay[]; more: boolean } | null> {
  // Longest word first: it is usually the rarest, and the first mismatch ends the check of a row.
  const forms = words.map(toSearchPattern).sort((a, b) => b.length - a.length);
  const values = [userId, !allowStale, forms[0]!.trim(), ...forms];
  const rows = await readLimited<Row>(database, identity, statementFor(words.length), values);
  if (!allowStale && rows.some(({ changed }) => changed)) return null;
  const results: FoundDay[] = [];
  for (const { date, text } of rows.slice(0, FIND_MAX_RESULTS)) {
    results.push({ date, snippet: createSnippet(words, text) });
    // A snippet may take ten milliseconds in scripts without spaces: yield to the event loop.
    await setImmediate();
  }
  return { results, more: rows.length > results.length };
}

const READ_TAGS = `
  select w.tags, ${IS_STALE} as changed
    from public.entries e left join public.entry_words w using (user_id, date)
   where e.user_id = $1 and (${IS_STALE} or w.tags <> '{}')
   order by e.date`;

/** Counts all tags of the logs that the user's plan opens. Null as in `findDays`. */
async function readTags(
  database: Database,
  { identity, userId }: SignedInCaller,
  allowStale: boolean,
): Promise<TagCount[] | null> {
  const rows = await readLimited<{ tags: string[] | null; changed: boolean }>(database, identity, READ_TAGS, [userId]);
  if (!allowStale && rows.some(({ changed }) => changed)) return null;
  return countTags(rows.map(({ tags }) => tags ?? []));
}

async function readLimited<Result extends object>(
  database: Database,
  identity: SignedInCaller['identity'],
  text: string,
  values: readonly unknown[],
): Promise<Result[]> {
  const { rows } = await database.transactAsUser(identity, async (transaction) => {
    await transaction.statement("select set_config('statement_timeout', $1, true)", [String(TIME_LIMIT_MS)]);
    return transaction.statement<Result>(text, values);
  });
  return rows;
}

// Maintains the per-user search index (`toSearchForm` and the tags of each log) in the table `entry_words`.
//
// Indexing is lazy: it runs before a search and not on save, because users save far more often than they search.
//
// Threat: a user learns, from a response or its timing, what a locked log contains. Logs are therefore read under the
// user's own identity, and locked days are indexed once the plan opens them.

/** A batch ends with the log that reaches this many bytes of text. */
const BATCH_BYTES = 500_000;

/** Stale logs, newest first, at least one per batch. `octet_length` does not decompress the text. */
const SELECT_STALE = `
  select id, date, revision, text from (
    select e.id, e.date, e.revision, e.content_text as text,
           sum(octet_length(e.content_text)) over (order by e.date desc) - octet_length(e.content_text) as bytes_before
      from public.entries e left join public.entry_words w using (user_id, date)
     where e.user_id = $1 and ${IS_STALE}) changed
   where bytes_before < ${BATCH_BYTES} order by date desc`;

/**
 * Skips logs deleted meanwhile; `for key share` waits for a delete in flight. A recreated day has another id: its
 * revision may equal the one read while its text differs.
 */
const UPSERT_WORDS = `
  insert into public.entry_words (user_id, date, revision, words, tags, tags_revision)
  select e.user_id, e.date, made.revision, made.words, string_to_array(made.tags, ' '), made.revision
    from unnest($2::uuid[], $3::date[], $4::integer[], $5::text[], $6::text[]) made (id, date, revision, words, tags)
    join public.entries e on e.user_id = $1 and e.date = made.date and e.id = made.id
   order by e.date for key share of e
  on conflict (user_id, date) do update
     set revision = excluded.revision, words = excluded.words, tags = excluded.tags, tags_revision = excluded.tags_revision`;

type StaleLog = { id: string; date: string; revision: number; text: string };

/** Returns true when the index is current; false when `shouldContinue` stopped it earlier. */
export async function updateSearchIndex(
  database: Database,
  { identity, userId }: SignedInCaller,
  shouldContinue: () => boolean,
): Promise<boolean> {
  const user = database.asUser(identity);
  // Clients have no write access to `entry_words`.
  const service = database.asService('build the search index');
  for (;;) {
    const { rows } = await user.statement<StaleLog>(SELECT_STALE, [userId]);
    if (rows.length === 0) return true;
    if (!shouldContinue()) return false;
    const words: string[] = [];
    for (const { text } of rows) {
      words.push(toSearchForm(text));
      // The longest log takes some ten milliseconds: yield to the event loop after each log.
      await setImmediate();
    }
    await service.statement(UPSERT_WORDS, [
      userId,
      rows.map(({ id }) => id),
      rows.map(({ date }) => date),
      rows.map(({ revision }) => revision),
      words,
      rows.map(({ text }) => listTags(text).join(' ')),
    ]);
  }
}
