import { escapeHtml } from '#domain/export/escape-html.ts';
import { EMPTY_LOG_HTML } from '#client/editor/stored/empty-log-html.ts';

/** A log with one item, as the editor writes it. */
export const logOf = (text: string): string => EMPTY_LOG_HTML.replace('<p></p>', () => `<p>${escapeHtml(text)}</p>`);
