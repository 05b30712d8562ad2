/**
 * Keeps the words of a user's logs ready for a search (`findForm`), in the table `entry_words`.
 *
 * They are made before a search and not with a save: somebody who writes saves fifty times for each time they search, and
 * what a save costs is felt. What the revision of a log shows to have changed since is made anew.
 *
 * The logs are read as the user themselves. Whoever may not read a day must not learn from an answer, nor from its time,
 * that there is one: words of days that the plan does not open are made once it opens them.
 */
import { setImmediate } from 'node:timers/promises';
import { findForm } from '#domain/find/search.ts';
import type { Database, Identity } from '../database/database.ts';

/** How much text is taken in hand at once. */
const BATCH_BYTES = 500_000;

/** Always at least one log, however long it is; the newest first. Lengths are known without unpacking the texts. */
const CHANGED = `
  select id, date, revision, text from (
    select e.id, e.date, e.revision, e.content_text as text,
           sum(octet_length(e.content_text)) over (order by e.date desc) - octet_length(e.content_text) as bytes_before
      from public.entries e left join public.entry_words w using (user_id, date)
     where e.user_id = $1 and w.revision is distinct from e.revision) changed
   where bytes_before < ${BATCH_BYTES} order by date desc`;

/**
 * A log that was deleted meanwhile is left out, and one that is being deleted is waited for. A day that was begun anew
 * has another id: its revision may be the one that was read, and its words are not.
 */
const KEEP = `
  insert into public.entry_words (user_id, date, revision, words)
  select e.user_id, e.date, made.revision, made.words
    from unnest($2::uuid[], $3::date[], $4::integer[], $5::text[]) made (id, date, revision, words)
    join public.entries e on e.user_id = $1 and e.date = made.date and e.id = made.id
   order by e.date for key share of e
  on conflict (user_id, date) do update set revision = excluded.revision, words = excluded.words`;

type Changed = { id: string; date: string; revision: number; text: string };

/** Answers whether all are ready; false when `mayGoOn` said to stop before. */
export async function updateSearchIndex(
  database: Database,
  { identity, userId }: { identity: Identity; userId: string },
  mayGoOn: () => boolean,
): Promise<boolean> {
  const user = database.asUser(identity);
  // No client may write words, whoever they are of.
  const service = database.asService('words for a search');
  for (;;) {
    const { rows } = await user.statement<Changed>(CHANGED, [userId]);
    if (rows.length === 0) return true;
    if (!mayGoOn()) return false;
    const words: string[] = [];
    for (const { text } of rows) {
      words.push(findForm(text));
      // Some ten milliseconds for the longest log: others are answered in between.
      await setImmediate();
    }
    await service.statement(KEEP, [
      userId,
      rows.map(({ id }) => id),
      rows.map(({ date }) => date),
      rows.map(({ revision }) => revision),
      words,
    ]);
  }
}
