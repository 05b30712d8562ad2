/**
 * The days whose logs hold the words, newest first, as the user themselves: row-level security decides which logs there
 * are to find, as for every other reading.
 *
 * Only this user's own rows are ever looked at, one after the other from the newest. An index of words over all logs
 * would let the time of a search tell how often others write a word, and would be no quicker: 3,650 logs of 2 KB take
 * 10 ms (docs/decisions/0013).
 */
import { setImmediate } from 'node:timers/promises';
import { FIND_MAX_RESULTS, formOf, snippetOf } from '#domain/find/search.ts';
import type { FoundDay, SoughtWord } from '#domain/find/search.ts';
import type { Database, Identity } from '../database/database.ts';

/** Far more than ten years of logs take; a journal of the longest logs that there can be is cut off here. */
const TIME_LIMIT_MS = 3_000;
/** Longer logs are not read whole for the line that is shown of them. */
const READ_WHOLE_BYTES = 8_192;
const READ_AROUND = 2_000;

/**
 * By the number of words: names of nothing but parameters, so that a word is never part of a statement. Days that have
 * changed since their words were made count as found where $2 asks for them, and stand in their place among the others:
 * where none comes out, the days before the last one that does are all there are.
 */
function statementFor(words: number): string {
  const conditions = Array.from({ length: words }, (_, index) => `strpos(w.words, $${index + 4}) > 0`);
  return `
  select e.date, w.revision is distinct from e.revision as changed,
         case when octet_length(e.content_text) <= ${READ_WHOLE_BYTES} then e.content_text
           else substr(e.content_text, greatest(1, strpos(lower(e.content_text), $3) - ${READ_AROUND}), ${2 * READ_AROUND})
         end as text
    from public.entries e left join public.entry_words w using (user_id, date)
   where e.user_id = $1
     and (($2 and w.revision is distinct from e.revision) or (${conditions.join(' and ')}))
   order by e.date desc limit ${FIND_MAX_RESULTS + 1}`;
}

type Row = { date: string; changed: boolean; text: string };

/** Null when words must be made ready first (`updateSearchIndex`); with `asTheyAre` that is not asked. */
export async function findDays(
  database: Database,
  { identity, userId }: { identity: Identity; userId: string },
  words: readonly SoughtWord[],
  asTheyAre = false,
): Promise<{ results: FoundDay[]; more: boolean } | null> {
  // The longest is the rarest, as a rule, and the first that is missing ends the look at a log.
  const forms = words.map(formOf).sort((a, b) => b.length - a.length);
  const { rows } = await database.transactAsUser(identity, async (transaction) => {
    await transaction.statement("select set_config('statement_timeout', $1, true)", [String(TIME_LIMIT_MS)]);
    const values = [userId, !asTheyAre, forms[0]!.trim(), ...forms];
    return transaction.statement<Row>(statementFor(words.length), values);
  });
  if (!asTheyAre && rows.some(({ changed }) => changed)) return null;
  const results: FoundDay[] = [];
  for (const { date, text } of rows.slice(0, FIND_MAX_RESULTS)) {
    results.push({ date, snippet: snippetOf(words, text) });
    // Some ten milliseconds where the script has no spaces: others are answered in between.
    await setImmediate();
  }
  return { results, more: rows.length > results.length };
}
