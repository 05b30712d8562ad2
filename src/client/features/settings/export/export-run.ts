/**
 * Writes all logs into one file, in the browser (docs/specification/export-and-import.md 4). The text goes into blobs page by page, which browsers
 * keep outside the page's memory, so ten years of logs never stand in it at once.
 */
import type { Day } from '#domain/day/day.ts';
import type { FormatWriter } from '#domain/export/exported-entry.ts';
import { createPager } from './entry-reader.ts';
import type { EntryReader, StoredDay } from './entry-reader.ts';
import { createTurns } from '../yield-to-main.ts';

export type Progress = { done: number; total: number };

/** The server said no, in words of its own. */
export class ExportRefused extends Error {
  override name = 'ExportRefused';
}

type Needs = {
  reader: EntryReader;
  writer: FormatWriter;
  /** MIME type with its charset. */
  type: string;
  /** Writes down that the plan was used, before the file is given out. Throws an `ExportRefused`. */
  record: () => Promise<void>;
};

export type ExportRun = {
  /** The file and how many days are in it; null where there are no logs. Called again after a failure it goes on. */
  run: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<{ file: Blob; days: number } | null>;
};

export function createExportRun({ reader, writer, type, record }: Needs): ExportRun {
  const parts: Blob[] = [];
  let written = 0;
  let dates: Day[] | null = null;
  let goOn: ReturnType<typeof createPager> | null = null;

  async function write(page: readonly StoredDay[], turn: () => Promise<void> | undefined): Promise<void> {
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
      await turn();
    }
    // Only now is the page done: a failure before this line begins it anew.
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
      const turn = createTurns();
      goOn ??= createPager(reader, dates);
      await goOn(signal, async (page, done) => {
        await write(page, turn);
        onProgress({ done, total });
      });
      await record();
      signal.throwIfAborted();
      return { file: new Blob([writer.begin(), ...parts, writer.end()], { type }), days: written };
    },
  };
}
