/** Reads all logs of the signed-in user in pages, first the dates, then the logs, and writes them into one file. */
import type { Day } from '#domain/day/day.ts';
import type { Entry } from '#domain/log/entry.ts';
import { ANSWER_TOO_LONG, type Answer, type DataClient } from '#client/lib/api/data-client.ts';
import type { FormatWriter } from '#domain/exported-entry.ts';

/** A date is short, so a response can have many. Only an empty response ends the list: the server may return fewer. */
const DATES_PER_REQUEST = 5_000;
const INITIAL_PAGE_SIZE = 200;
const MAX_PAGE_SIZE = 500;
/** The target size of a response, in characters. */
const TARGET_PAGE_CHARS = 1_000_000;

const COLUMNS = 'date, content, id, revision, hustle_score, ai_feedback, ai_analyzed_at';
export type StoredDay = Pick<
  Entry,
  'date' | 'content' | 'id' | 'revision' | 'hustle_score' | 'ai_feedback' | 'ai_analyzed_at'
>;

/** The limit for a request and its retries. Without it, a request that gets no answer would wait for ever. */
const REQUEST_TIMEOUT_MS = 45_000;
const withTimeout = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);

/** The first wait before a read is repeated. Doubles twice. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;

/**
 * Repeats a read that got no whole answer of the API (an error without a code, other than 401), or found the server too
 * busy (503).
 */
async function repeatUnanswered<Data>(query: PromiseLike<Answer<Data>>, signal: AbortSignal): Promise<Answer<Data>> {
  for (let wait = RETRY_MS; ; wait *= 2) {
    const answer = await query;
    const isUnanswered = answer.status === 503 || (answer.error?.code === '' && answer.status !== 401);
    if (!isUnanswered || signal.aborted || wait > MAX_RETRY_MS) return answer;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

export class EntryReadError extends Error {
  override name = 'EntryReadError';
}

export type EntryReader = {
  /** The days of `entries`, oldest first; with `entry_dates` the locked ones too. */
  dates: (signal: AbortSignal, table?: 'entries' | 'entry_dates') => Promise<Day[]>;
  /** The logs of these dates that still exist, oldest first. At most 500 dates, because the URL lists them. */
  days: (dates: readonly Day[], signal: AbortSignal) => Promise<StoredDay[]>;
};

export function createEntryReader(data: DataClient, userId: string): EntryReader {
  /** Halves a request whose answer would be too long, such as 200 days of full logs. */
  async function readDays(dates: readonly Day[], signal: AbortSignal): Promise<StoredDay[]> {
    const limit = withTimeout(signal);
    const query = data.from('entries').select(COLUMNS).eq('user_id', userId).in('date', dates).order('date');
    const { data: rows, error } = await repeatUnanswered(query.abortSignal(limit), limit);
    if (error?.code === ANSWER_TOO_LONG && dates.length > 1) {
      const half = Math.ceil(dates.length / 2);
      return [...(await readDays(dates.slice(0, half), signal)), ...(await readDays(dates.slice(half), signal))];
    }
    if (error) throw new EntryReadError(error.message);
    return rows;
  }

  return {
    async dates(signal, table = 'entries') {
      const dates: Day[] = [];
      for (;;) {
        const all = data.from(table).select('date').eq('user_id', userId);
        const last = dates.at(-1);
        const limit = withTimeout(signal);
        const query = (last === undefined ? all : all.gt('date', last)).order('date').limit(DATES_PER_REQUEST);
        const { data: rows, error } = await repeatUnanswered(query.abortSignal(limit), limit);
        if (error) throw new EntryReadError(error.message);
        if (rows.length === 0) return dates;
        for (const row of rows) dates.push(row.date);
      }
    },

    async days(dates, signal) {
      const rows = await readDays(dates, signal);
      // Row-level security leaves out rows without an error, for example once the plan has ended. So an empty answer
      // for days that exist is a failure.
      if (rows.length === 0) throw new EntryReadError('no rows for days that exist');
      return rows;
    },
  };
}

/**
 * Processes the days page by page and prefetches the next page. A second call after a failure or an abort resumes at
 * the first page that is not processed.
 */
export function createPager(reader: EntryReader, dates: readonly Day[]) {
  let next = 0;
  let size = INITIAL_PAGE_SIZE;
  return async (signal: AbortSignal, work: (page: StoredDay[], done: number) => Promise<void>): Promise<void> => {
    const request = (from: number) => {
      const requested = dates.slice(from, from + size);
      const rows = requested.length === 0 ? Promise.resolve([]) : reader.days(requested, signal);
      // Attach a handler now, or a failed prefetch becomes an unhandled rejection.
      rows.catch(() => undefined);
      return { requested, rows };
    };
    let prefetched = request(next);
    while (next < dates.length) {
      const { requested, rows } = prefetched;
      const page = await rows;
      const characters = page.reduce((sum, row) => sum + row.content.length, 0);
      size = Math.max(10, Math.min(MAX_PAGE_SIZE, Math.round((page.length * TARGET_PAGE_CHARS) / (characters + 1))));
      prefetched = request(next + requested.length);
      await work(page, next + requested.length);
      next += requested.length;
      signal.throwIfAborted();
    }
  };
}

// Writes all logs into one file in the browser (docs/specification/export-and-import.md 4). Each page of logs becomes a
// blob, which browsers store outside the page's memory, so memory use stays small for years of logs.

export type Progress = { done: number; total: number };

/** The server rejected the export; the message is for the user. */
export class ExportRejected extends Error {
  override name = 'ExportRejected';
}

type Deps = {
  reader: EntryReader;
  writer: FormatWriter;
  /** MIME type with its charset. */
  type: string;
  /** Tells the server of the export before the download: it counts as a use of the paid plan. @throws ExportRejected */
  record: () => Promise<void>;
};

export type ExportRun = {
  /** Returns the file and its number of days, or null without logs. A second call after a failure resumes. */
  run: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<{ file: Blob; days: number } | null>;
};

export function createExportRun({ reader, writer, type, record }: Deps): ExportRun {
  const parts: Blob[] = [];
  let written = 0;
  let dates: Day[] | null = null;
  let readPages: ReturnType<typeof createPager> | null = null;

  async function write(page: readonly StoredDay[], yieldIfDue: () => Promise<void> | undefined): Promise<void> {
    const texts: string[] = [];
    for (const row of page) {
      const entry = {
        date: row.date,
        content: row.content,
        hustleScore: row.hustle_score,
        feedback: row.ai_feedback,
        analyzedAt: row.ai_analyzed_at,
      };
      texts.push(writer.entry(entry, written + texts.length));
      await yieldIfDue();
    }
    // After a failure before this line, the next run writes the whole page again.
    parts.push(new Blob(texts));
    written += texts.length;
  }

  return {
    async run(signal, onProgress) {
      dates ??= await reader.dates(signal);
      const total = dates.length;
      if (total === 0) {
        dates = null;
        return null;
      }
      const yieldIfDue = createYielder();
      readPages ??= createPager(reader, dates);
      await readPages(signal, async (page, done) => {
        await write(page, yieldIfDue);
        onProgress({ done, total });
      });
      await record();
      signal.throwIfAborted();
      return { file: new Blob([writer.begin(), ...parts, writer.end()], { type }), days: written };
    },
  };
}

const MAX_SLICE_MS = 12;

/** Yields to the main thread during long work. Uses a message port, because timers are throttled in hidden tabs. */
const yieldToMain = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    port2.postMessage(null);
  });

/** Returns a function to await after each step; it yields only if the time slice is used up. */
export function createYielder(): () => Promise<void> | undefined {
  let deadline = performance.now() + MAX_SLICE_MS;
  return () => {
    if (performance.now() < deadline) return undefined;
    return yieldToMain().then(() => void (deadline = performance.now() + MAX_SLICE_MS));
  };
}
