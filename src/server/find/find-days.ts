/**
 * Searches the user's logs, newest first, under row-level security like every other read.
 *
 * Threat: a full-text index over all users would leak through timing how often others write a word. Only the user's own
 * rows are scanned. The scan is fast enough: 3,650 logs of 2 KB take 10 to 15 ms (docs/decisions/0013).
 */
import { setImmediate } from 'node:timers/promises';
import {
  FIND_MAX_RESULTS,
  toSearchPattern,
  createSnippet,
  type FoundDay,
  type SearchTerm,
} from '#domain/match-search.ts';
import type { Database, Identity } from '../database/database.ts';

/** The time limit of the statement. Ten years of typical logs need far less; only maximum-size logs reach the limit. */
const TIME_LIMIT_MS = 3_000;
/** Longer logs are read only around the match for the snippet. */
const MAX_WHOLE_READ_BYTES = 8_192;
const SNIPPET_CONTEXT_CHARS = 2_000;

/**
 * Builds the statement for a number of words; the words themselves are parameters, never SQL text. If $2 is true, days
 * with a stale index row count as matches. A result without such a day is complete up to its last day.
 */
function statementFor(words: number): string {
  const conditions = Array.from({ length: words }, (_, index) => `strpos(w.words, $${index + 4}) > 0`);
  return `
  select e.date, w.revision is distinct from e.revision as changed,
         case when octet_length(e.content_text) <= ${MAX_WHOLE_READ_BYTES} then e.content_text
           else substr(e.content_text, greatest(1, strpos(lower(e.content_text), $3) - ${SNIPPET_CONTEXT_CHARS}), ${2 * SNIPPET_CONTEXT_CHARS})
         end as text
    from public.entries e left join public.entry_words w using (user_id, date)
   where e.user_id = $1
     and (($2 and w.revision is distinct from e.revision) or (${conditions.join(' and ')}))
   order by e.date desc limit ${FIND_MAX_RESULTS + 1}`;
}

type Row = { date: string; changed: boolean; text: string };

/** Null when the index of a found day is stale (call `updateSearchIndex` first); `allowStale` skips that check. */
export async function findDays(
  database: Database,
  { identity, userId }: { identity: Identity; userId: string },
  words: readonly SearchTerm[],
  allowStale = false,
): Promise<{ results: FoundDay[]; more: boolean } | null> {
  // Longest word first: it is usually the rarest, and the first mismatch ends the check of a row.
  const forms = words.map(toSearchPattern).sort((a, b) => b.length - a.length);
  const { rows } = await database.transactAsUser(identity, async (transaction) => {
    await transaction.statement("select set_config('statement_timeout', $1, true)", [String(TIME_LIMIT_MS)]);
    const values = [userId, !allowStale, forms[0]!.trim(), ...forms];
    return transaction.statement<Row>(statementFor(words.length), values);
  });
  if (!allowStale && rows.some(({ changed }) => changed)) return null;
  const results: FoundDay[] = [];
  for (const { date, text } of rows.slice(0, FIND_MAX_RESULTS)) {
    results.push({ date, snippet: createSnippet(words, text) });
    // A snippet may take ten milliseconds in scripts without spaces: yield to the event loop.
    await setImmediate();
  }
  return { results, more: rows.length > results.length };
}
