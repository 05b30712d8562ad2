/** Reads all logs of the signed-in user in pages: first which days there are, then the days themselves. */
import type { Day } from '#domain/day/day.ts';
import type { Entry } from '#domain/log/entry.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';

/** Dates alone are small; a server that answers with fewer rows than were asked for is asked again. */
const DATES_PER_REQUEST = 5_000;
const FIRST_PAGE = 200;
const LARGEST_PAGE = 500;
/** How much text one answer should hold, whatever the length of the logs. */
const PAGE_CHARACTERS = 1_000_000;

const COLUMNS = 'date, content, id, revision, hustle_score, ai_feedback, ai_analyzed_at';
export type StoredDay = Pick<
  Entry,
  'date' | 'content' | 'id' | 'revision' | 'hustle_score' | 'ai_feedback' | 'ai_analyzed_at'
>;

export class ReadingFailed extends Error {
  override name = 'ReadingFailed';
}

export type EntryReader = {
  /** Oldest first. */
  dates: (signal: AbortSignal) => Promise<Day[]>;
  /** Those of the days that are still there, oldest first. */
  days: (dates: readonly Day[], signal: AbortSignal) => Promise<StoredDay[]>;
};

export function createEntryReader(data: DataClient, userId: string): EntryReader {
  return {
    async dates(signal) {
      const dates: Day[] = [];
      for (;;) {
        const all = data.from('entries').select('date').eq('user_id', userId);
        const last = dates.at(-1);
        const { data: rows, error } = await (last === undefined ? all : all.gt('date', last))
          .order('date')
          .limit(DATES_PER_REQUEST)
          .abortSignal(signal);
        if (error) throw new ReadingFailed(error.message);
        if (rows.length === 0) return dates;
        for (const row of rows) dates.push(row.date);
      }
    },

    async days(dates, signal) {
      const { data: rows, error } = await data
        .from('entries')
        .select(COLUMNS)
        .eq('user_id', userId)
        .gte('date', dates[0]!)
        .lte('date', dates.at(-1)!)
        .order('date')
        .limit(dates.length)
        .abortSignal(signal);
      if (error) throw new ReadingFailed(error.message);
      // A session that ended is answered like a journal without a word in it. That is not what is here.
      if (rows.length === 0) throw new ReadingFailed('no rows for days that exist');
      return rows;
    },
  };
}

/**
 * Goes through the days page by page, the next page on its way while one is worked on. Called again after a failure, it
 * goes on with the page that did not come.
 */
export function createPager(reader: EntryReader, dates: readonly Day[]) {
  let next = 0;
  let size = FIRST_PAGE;
  return async (signal: AbortSignal, work: (page: StoredDay[], done: number) => Promise<void>): Promise<void> => {
    const ask = (from: number) => {
      const asked = dates.slice(from, from + size);
      const rows = asked.length === 0 ? Promise.resolve([]) : reader.days(asked, signal);
      // Whoever waits for it hears of the failure; until then it is nobody's.
      rows.catch(() => undefined);
      return { asked, rows };
    };
    let coming = ask(next);
    while (next < dates.length) {
      const { asked, rows } = coming;
      const page = await rows;
      const characters = page.reduce((sum, row) => sum + row.content.length, 0);
      size = Math.max(10, Math.min(LARGEST_PAGE, Math.round((page.length * PAGE_CHARACTERS) / (characters + 1))));
      coming = ask(next + asked.length);
      await work(page, next + asked.length);
      signal.throwIfAborted();
      next += asked.length;
    }
  };
}
