/**
 * Maintains the per-user search index (`toSearchForm` of each log) in the table `entry_words`.
 *
 * Indexing is lazy: it runs before a search, not on save, because users save about fifty times per search and save
 * latency matters. An index row is stale when the log's revision differs.
 *
 * Threat: a user must not learn, from a response or its timing, that a locked day has a log. Logs are therefore read
 * under the user's own identity, and locked days are indexed once the plan opens them.
 */
import { setImmediate } from 'node:timers/promises';
import { toSearchForm } from '#domain/match-search.ts';
import type { Database, Identity } from '../database/database.ts';

/** A batch ends with the log that reaches this many bytes of text. */
const BATCH_BYTES = 500_000;

/** Stale logs, newest first, at least one per batch. `octet_length` does not decompress the text. */
const SELECT_STALE = `
  select id, date, revision, text from (
    select e.id, e.date, e.revision, e.content_text as text,
           sum(octet_length(e.content_text)) over (order by e.date desc) - octet_length(e.content_text) as bytes_before
      from public.entries e left join public.entry_words w using (user_id, date)
     where e.user_id = $1 and w.revision is distinct from e.revision) changed
   where bytes_before < ${BATCH_BYTES} order by date desc`;

/**
 * Skips logs deleted meanwhile; `for key share` waits for a delete in flight. A recreated day has another id: its
 * revision may equal the one read while its text differs.
 */
const UPSERT_WORDS = `
  insert into public.entry_words (user_id, date, revision, words)
  select e.user_id, e.date, made.revision, made.words
    from unnest($2::uuid[], $3::date[], $4::integer[], $5::text[]) made (id, date, revision, words)
    join public.entries e on e.user_id = $1 and e.date = made.date and e.id = made.id
   order by e.date for key share of e
  on conflict (user_id, date) do update set revision = excluded.revision, words = excluded.words`;

type StaleLog = { id: string; date: string; revision: number; text: string };

/** Returns true when the index is current; false when `shouldContinue` stopped it earlier. */
export async function updateSearchIndex(
  database: Database,
  { identity, userId }: { identity: Identity; userId: string },
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
    ]);
  }
}
