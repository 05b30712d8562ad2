/**
 * Text that another app shares with the journal (the manifest's `share_target`). It travels in the address's fragment,
 * which no browser sends to a server and no server logs.
 */
import { ROUTES } from '../routes.ts';

/** Where the operating system delivers shared text, as a query. */
export const SHARE_PATH = '/share';
const PARAMETER = 'shared';

/** The journal's address with the text of a share's query. */
export const sharedTextAddress = (search: string): string =>
  `${ROUTES.journal.path}#${PARAMETER}=${encodeURIComponent(joinSharedText(search))}`;

/** The text in a fragment; null without one. */
export const sharedTextOf = (hash: string): string | null =>
  new URLSearchParams(hash.slice(1).replaceAll('+', '%2B')).get(PARAMETER)?.trim().toWellFormed() || null;

/** Title, text and address of the share, in this order. Apps repeat the address in the text and the text in the title. */
function joinSharedText(search: string): string {
  const query = new URLSearchParams(search);
  const given = ['title', 'text', 'url'].map((name) => (query.get(name) ?? '').trim());
  return given
    .filter((part, index) => part !== '' && !given.some((other, at) => isRepeated(part, index, other, at)))
    .join('\n');
}

const isRepeated = (part: string, index: number, other: string, at: number): boolean =>
  at !== index && other.includes(part) && (other !== part || at < index);
