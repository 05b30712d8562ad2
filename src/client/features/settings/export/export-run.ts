/**
 * Writes all logs into one file in the browser (docs/specification/export-and-import.md 4). Each page of logs becomes a
 * blob, which browsers store outside the page's memory, so memory use stays small for years of logs.
 */
import type { Day } from '#domain/day/day.ts';
import type { FormatWriter } from '#domain/export/exported-entry.ts';
import { createPager, type EntryReader, type StoredDay } from './read-entries.ts';
import { createYielder } from '../yield-to-main.ts';

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
  /** Tells the server about the export before the download: it counts as a use of the paid plan. @throws ExportRejected */
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
