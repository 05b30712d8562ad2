/** The row of a log. Not in first-reads.ts, which would then bring the reader of logs, 3 KB, to the sign-in pages. */
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import type { CopiedLog } from '../boot/today-copy.ts';

/** The columns `LOG_COLUMNS` of a row. */
export type LogRow = { id: string; content: string; revision: number; updated_at: string };

export const toStoredLog = (row: LogRow): CopiedLog => ({
  id: row.id,
  html: withoutDateHeader(row.content),
  revision: row.revision,
  savedAt: Date.parse(row.updated_at),
});
