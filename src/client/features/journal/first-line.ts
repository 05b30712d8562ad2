/** The line that a visitor typed on the landing page: it becomes the first item of the first log. */
import { EMPTY_LOG_HTML } from '#client/editor/stored/empty-log-html.ts';
import { FIRST_LINE_MAX_LENGTH } from '#domain/log/entry.ts';
import { escapeHtml } from '#domain/export/escape-html.ts';
import { FIRST_LINE_KEY } from '#client/lib/session/storage-keys.ts';

/** A log with one item, as the editor writes it. */
export const logOf = (text: string): string => EMPTY_LOG_HTML.replace('<p></p>', () => `<p>${escapeHtml(text)}</p>`);

/** Removes the line from the storage and returns it; null if there is no line. */
export function takeFirstLine(storage: Storage): string | null {
  try {
    const line = storage
      .getItem(FIRST_LINE_KEY)
      ?.replace(/\s+/g, ' ')
      .trim()
      .slice(0, FIRST_LINE_MAX_LENGTH)
      .toWellFormed();
    storage.removeItem(FIRST_LINE_KEY);
    return line || null;
  } catch {
    return null;
  }
}
