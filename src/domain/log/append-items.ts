/** Appends items to a log: text that arrives from outside the editor, such as another app, a token or a mail. */
import { stripInvisible } from '../strip-invisible.ts';
import { logLines, type Line } from './log-lines.ts';
import { escapeHtml } from './entry-html.ts';
import { normalizeText, textToLog } from './text-to-log.ts';

/** The longest text that is appended at once, in UTF-16 units. */
export const APPEND_MAX_LENGTH = 16_000;
/** The most items in one text. */
export const APPEND_MAX_ITEMS = 200;

/** The HTML of an item. The text is escaped, and a line end becomes `<br>`. */
export const itemHtml = (text: string): string =>
  `<li><p>${text
    .split(/(?<!\s)\s*\n\s*/)
    .map(escapeHtml)
    .join('<br>')}</p></li>`;

const LAST_LIST = /<\/[ou]l>(?=(?:<p>(?:<br>)?<\/p>)*$)/;
const EMPTY_ITEM = /<li><p>(?:<br>)?<\/p><\/li>$/;
const ONLY_EMPTY_ITEM = /<[ou]l><li><p>(?:<br>)?<\/p><\/li>$/;

/**
 * Appends the items to the list that ends the log, else as a new numbered list. An empty last item and empty paragraphs
 * below the list stay behind them, because the user of an open page may be writing there. An empty only item is
 * replaced.
 */
export function appendItems(html: string, items: readonly string[]): string {
  if (items.length === 0) return html;
  const added = items.map(itemHtml).join('');
  const list = LAST_LIST.exec(html);
  if (!list) return `${html}<ol>${added}</ol>`;
  const before = html.slice(0, list.index);
  const emptyItem = EMPTY_ITEM.exec(before)?.[0] ?? '';
  const kept = ONLY_EMPTY_ITEM.test(before) ? '' : emptyItem;
  return before.slice(0, before.length - emptyItem.length) + added + kept + html.slice(list.index);
}

/**
 * The items of a plain text. Each line is an item, and an item of a list loses its marker. A line whose indentation
 * continues an item is joined to it by a line feed. Invisible characters are removed. Threat: only the coach would read
 * text in such characters.
 */
export function parseItems(text: string): string[] {
  const lines = logLines(textToLog(stripInvisible(normalizeText(text))).html);
  const items: string[] = [];
  let last: Line['block'] | null = null;
  for (const line of lines) {
    const words = line.text.trim();
    if (words === '') continue;
    if (last === line.block) items.push(`${items.pop()!}\n${words}`);
    else items.push(words);
    last = line.block;
  }
  return items;
}
