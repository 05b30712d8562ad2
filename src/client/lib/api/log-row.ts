/** The row of a log. Not in first-reads.ts, which the sign-in pages load: they do not need entry-html.ts. */
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
