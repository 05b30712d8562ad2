/**
 * Text that arrived from outside the journal and becomes an item of today's log: the line that a visitor typed on the
 * landing page, and text that another app shared. Loaded only when such text is in the storage.
 */
import { isolate } from '#domain/isolate.ts';
import { stripInvisible } from '#domain/strip-invisible.ts';
import { appendItems, itemHtml } from '#domain/log/append-items.ts';
import { FIRST_LINE_MAX_LENGTH } from '#domain/log/entry.ts';
import { FIRST_LINE_KEY, sharedTextsKeys } from '#client/lib/session/storage-keys.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { Toast } from '#client/ui/toast.tsx';

/** The question to the user quotes at most this many characters of the text. */
const EXCERPT_LENGTH = 120;

type Today = Pick<DaySaver, 'rewrite' | 'storeDraft'>;

/**
 * Adds the texts to the log of today. A text leaves the storage only once a draft holds it, so that a crash in between
 * loses nothing. Returns the number of shared texts; 0 if no draft could be stored.
 *
 * `isFirstLog`: the user has no logs yet. Otherwise the line typed on the landing page is not added.
 */
export function addArrivedText(storage: Storage, userId: string, today: Today, isFirstLog: boolean): number {
  const keys = sharedTextsKeys(userId);
  const shared = keys.flatMap((key) => parseTexts(storage.getItem(key)));
  const texts = [...(isFirstLog ? readFirstLine(storage) : []), ...shared];
  if (texts.length === 0) return 0;
  today.rewrite((text) => texts.reduce(addItem, text), 0);
  if (!today.storeDraft()) return 0;
  for (const key of isFirstLog ? [...keys, FIRST_LINE_KEY] : keys) storage.removeItem(key);
  return shared.length;
}

/**
 * Asks once whether the texts that arrived in this tab join the log of today.
 *
 * Threat: a website opens the share URL with text of its choice. The text joins the log only if the user accepts it.
 */
export function offerSharedText(
  tabStorage: Storage,
  userId: string,
  today: Today,
  ask: (question: Toast) => void,
): void {
  const keys = sharedTextsKeys(userId);
  const texts = keys.flatMap((key) => parseTexts(tabStorage.getItem(key)));
  for (const key of keys) tabStorage.removeItem(key);
  if (texts.length === 0) return;
  const words = texts.join(' ').replace(/\s+/g, ' ');
  const excerpt = words.length > EXCERPT_LENGTH ? `${words.slice(0, EXCERPT_LENGTH).toWellFormed()}…` : words;
  ask({
    kind: 'info',
    text: `A site or an app sent text to your log of today: “${isolate(excerpt)}”`,
    action: {
      label: 'Add to today',
      run: () => {
        today.rewrite((text) => texts.reduce(addItem, text), 0);
        today.storeDraft();
      },
    },
  });
}

/** Adds an item, unless the log has it already. */
const addItem = (html: string, text: string): string =>
  html.includes(itemHtml(text)) ? html : appendItems(html, [text]);

/** The line typed on the landing page, with single spaces between words; an empty array without a line. */
function readFirstLine(storage: Storage): string[] {
  const line = storage
    .getItem(FIRST_LINE_KEY)
    ?.replace(/\s+/g, ' ')
    .trim()
    .slice(0, FIRST_LINE_MAX_LENGTH)
    .toWellFormed();
  return line ? [line] : [];
}

function parseTexts(json: string | null): string[] {
  try {
    const texts: unknown = JSON.parse(json ?? '[]');
    if (!Array.isArray(texts)) return [];
    // Threat: a website shares words in invisible characters, which only the coach would read. Strips such characters.
    return texts.flatMap((text) => (typeof text === 'string' && stripInvisible(text).trim()) || []);
  } catch {
    return [];
  }
}
