/** Reads and writes days through /rest/v1, and maps each response to one of the saver's outcomes. */
import { earliestCurrentDay, earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import { ENTRY_MAX_BYTES, STORAGE_FULL_CODE, WRITE_LIMIT_CODE } from '#domain/log/entry.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { isLocked, isPremium } from '#domain/plan/plan.ts';
import type { Answer, DataClient } from '#client/lib/api/data-client.ts';
import { isProxyAnswer, fetchAsUser } from '#client/lib/api/supabase.ts';
import { LOG_COLUMNS, readLog } from '#client/lib/api/first-reads.ts';
import { toStoredLog, type LogRow } from '#client/lib/api/log-row.ts';
import { fetchPrefetched } from '#client/lib/boot/prefetch.ts';
import type { EntryTransport, Failure, MovedLog, ReadOutcome, StoredLog, WriteOutcome } from '../save-requests.ts';

/** Browsers limit the keepalive requests of a page to 64 KB in total. The difference is for headers and the URL. */
const KEEPALIVE_MAX_BYTES = 56 * 1024;
const REQUEST_TIMEOUT_MS = 20_000;
/** A body gets more time, for an upload at 64 kbit/s. The largest log ends before the server's limit of a minute. */
const UPLOAD_BYTES_PER_MS = 8;
/** The SQLSTATE of an insert of a row that exists. */
export const DUPLICATE_KEY = '23505';

const VERSION = 'id, revision, updated_at';

/**
 * Sends a request only with this user's token. To a guest or another user, row-level security would return no rows,
 * which looks like an empty day.
 */
export const createEntryFetch = (userId: string, onAnswer?: (answer: Response) => void): typeof fetch =>
  fetchAsUser(userId, async (input, init) => {
    const size = typeof init?.body === 'string' ? new TextEncoder().encode(init.body).length : 0;
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS + Math.ceil(size / UPLOAD_BYTES_PER_MS));
    const keepalive = size > 0 && size <= KEEPALIVE_MAX_BYTES;
    const answer = await fetchPrefetched(input, { ...init, signal, keepalive, redirect: 'manual' });
    onAnswer?.(answer);
    return answer;
  });

const STORAGE_FULL = 'your logs fill your account. A deleted log makes room after 30 days';
const SIZE_LIMIT = `this log is larger than ${ENTRY_MAX_BYTES / 1024} KB`;

/** An error without a code is a proxy's: one whose server is gone may answer 404, a firewall 403. */
function failure({ status, error }: { status: number; error: { code: string } }, date: Day): Failure {
  if (status === 401) return { kind: 'signedOut' };
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  if (!isFinal || !error.code) return { kind: 'unreachable' };
  if (status === 413) return { kind: 'refused', reason: error.code === STORAGE_FULL_CODE ? STORAGE_FULL : SIZE_LIMIT };
  if (status === 403) {
    const mayBeLocked = isLocked(date, false, latestToday(new Date()));
    return mayBeLocked ? { kind: 'locked' } : { kind: 'refused', reason: 'this day is not open to you' };
  }
  return { kind: 'refused', reason: `the server refused it (${error.code})` };
}

type WriteAnswer = Answer<Omit<LogRow, 'content'>[]>;

/** A response without a row means that the condition on the version failed or that the plan locks the day. */
function writeOutcome(answer: WriteAnswer, date: Day): WriteOutcome {
  if (answer.error) return answer.error.code === DUPLICATE_KEY ? { kind: 'changed' } : failure(answer, date);
  const row = answer.data[0];
  if (!row) return { kind: 'changed' };
  return { kind: 'stored', id: row.id, revision: row.revision, savedAt: Date.parse(row.updated_at) };
}

type Listeners = {
  /** A day turns out to be locked: the plan known to the page may be stale. */
  onLocked: () => void;
  /** A write is answered. `isLimited`: the user has used up the bytes of a minute. */
  onWritten: (isLimited: boolean) => void;
};

export function createEntryTransport(
  data: DataClient,
  userId: string,
  { onLocked, onWritten }: Listeners,
): EntryTransport {
  /**
   * One request to the table `entries`. `report` completes the outcome from the response headers, which the API client
   * does not return.
   */
  function createRequest() {
    let hints: { retryAfterMs?: number; needsReload?: boolean } = {};
    const fetch = createEntryFetch(userId, (answer) => {
      const { headers, ok } = answer;
      const retryAfterMs = (!ok && Number(headers.get('retry-after')) * 1_000) || 0;
      const needsReload = isProxyAnswer(answer);
      hints = { ...(retryAfterMs > 0 && { retryAfterMs }), ...(needsReload && { needsReload }) };
    });
    return {
      fetch,
      reportWrite(answer: WriteAnswer, date: Day): WriteOutcome {
        onWritten(answer.error?.code === WRITE_LIMIT_CODE);
        return this.report(writeOutcome(answer, date));
      },
      entries: data.from('entries', { fetch }),
      report<Outcome extends ReadOutcome | WriteOutcome>(outcome: Outcome): Outcome {
        if (outcome.kind === 'locked') onLocked();
        // A proxy's 401 says nothing of the session.
        const isUnreachable = outcome.kind === 'unreachable' || (outcome.kind === 'signedOut' && hints.needsReload);
        return isUnreachable ? ({ kind: 'unreachable', ...hints } as Outcome) : outcome;
      },
    };
  }
  const ofUser = { user_id: userId };

  /** Reads the day's row, and the row `id` in the same query: two queries could miss a log that is moved between them. */
  async function readRows(date: Day, id: string | undefined): Promise<ReadOutcome> {
    const { entries, fetch, report } = createRequest();
    const query = id
      ? entries.select(`date, ${LOG_COLUMNS}`).match(ofUser).or(`date.eq.${date},id.eq.${id}`)
      : readLog(data, userId, date, { fetch });
    const answer = await query;
    if (answer.error) return report(failure(answer, date));
    let stored: StoredLog | null = null;
    let moved: MovedLog | undefined;
    for (const row of answer.data as unknown as (LogRow & { date?: Day })[]) {
      const log = toStoredLog(row);
      if (row.date && row.date !== date) moved = { date: row.date, html: log.html };
      else stored = log;
    }
    return { kind: 'read', stored, moved };
  }

  return {
    /**
     * For a locked day row-level security returns no rows, which looks like an empty day. To tell them apart, this
     * loads the current plan and applies the server's rule. If the plan opens the day, it may have begun since the
     * first answer, so this reads the day again.
     */
    async read(date, id) {
      const outcome = await readRows(date, id);
      const now = new Date();
      const isOpen = (premium: boolean): boolean => !isLocked(date, premium, earliestCurrentDay(now));
      if (outcome.kind !== 'read' || outcome.stored || outcome.moved || isOpen(false)) return outcome;
      const plan = await data
        .from('profiles', { fetch: createEntryFetch(userId) })
        .select('subscription_plan, access_valid_until')
        .eq('id', userId);
      if (plan.error) return failure(plan, date);
      if (isOpen(isPremium(plan.data[0], earliestToday(now)))) return readRows(date, id);
      onLocked();
      return { kind: 'locked' };
    },

    async insert(date, html, id) {
      const request = createRequest();
      const row = { ...ofUser, id, date, content: withDateHeader(date, html) };
      return request.reportWrite(await request.entries.insert(row).select(VERSION), date);
    },

    async update(date, html, { id, revision }) {
      const request = createRequest();
      const changes = { content: withDateHeader(date, html) };
      const answer = await request.entries
        .update(changes)
        .match({ ...ofUser, date, id, revision })
        .select(VERSION);
      return request.reportWrite(answer, date);
    },

    async remove(date, { id, revision }) {
      const request = createRequest();
      const answer = await request.entries
        .delete()
        .match({ ...ofUser, date, id, revision })
        .select(VERSION);
      const outcome = request.reportWrite(answer, date);
      return outcome.kind === 'stored' ? { kind: 'removed' } : outcome;
    },
  };
}
