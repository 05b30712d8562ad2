/**
 * Text that another app shares with the journal (the manifest's `share_target`). It arrives in the query of
 * `SHARE_PATH`, and the service worker moves it into the fragment of the journal's address, so that it does not reach a
 * server. Without the service worker, our server does the same.
 */
import { ROUTES } from './routes.ts';

/** The path that the operating system opens with the shared text in its query. */
export const SHARE_PATH = '/share';
const FRAGMENT = '#shared=';
/**
 * About the longest URL that the server accepts; a longer text is cut. Threat: a site opens this address with so much
 * text that the log of today becomes too large to save.
 */
const MAX_LENGTH = 16_000;

/** Reads a parameter of a query. */
type Query = (name: string) => string | null | undefined;

/** The journal's address with the text of a share's query. */
export const sharedTextAddress = (query: Query): string =>
  `${ROUTES.journal.path}${FRAGMENT}${encodeURIComponent(joinSharedText(query))}`;

/** The text in a fragment; null without one. */
export function sharedTextOf(hash: string): string | null {
  if (!hash.startsWith(FRAGMENT)) return null;
  const text = decodeURIComponent(hash.slice(FRAGMENT.length)).trim();
  return (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()}…` : text) || null;
}

/**
 * Joins title, text and address of the share. Apps repeat the address in the text and the text in the title, so a part
 * that another one contains is left out.
 */
function joinSharedText(query: Query): string {
  const given = ['title', 'text', 'url'].map((name) => (query(name) ?? '').trim().toWellFormed());
  return given
    .filter((part, index) => part !== '' && !given.some((other, at) => isRepeated(part, index, other, at)))
    .join('\n');
}

const isRepeated = (part: string, index: number, other: string, at: number): boolean =>
  at !== index && other.includes(part) && (other !== part || at < index);
