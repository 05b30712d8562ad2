/** Recognises pasted HTML that is not converted: slices of this editor, and HTML that says less than its plain text. */
import { ENTRY_TAGS } from '#domain/log/entry-html.ts';
import { looksLikeMarkdown } from '#domain/log/pasted-markdown.ts';
import { htmlToLog, isTooComplex } from '#client/lib/html-to-log/html-to-log.ts';
import { parseInert } from '#client/lib/log-html/inert-html.ts';

/**
 * HTML that an editor of the same elements has copied, unchanged: ProseMirror reads the slice's open ends from an attribute.
 * Null for other HTML.
 */
export function readSliceHtml(source: string): string | null {
  if (!/\sdata-pm-slice=/.test(source) || isTooComplex(source)) return null;
  const body = parseInert(source);
  return [...body.querySelectorAll('*')].every(isLogElement) ? body.innerHTML : null;
}

const LOG_TAGS: ReadonlySet<string> = new Set(ENTRY_TAGS);
const isLogElement = ({ localName, attributes }: Element): boolean =>
  LOG_TAGS.has(localName) && [...attributes].every(({ name }) => name === 'start' || name === 'data-pm-slice');

/** Elements without a meaning of their own, in which editors, terminals and chats copy lines of text. */
const STRUCTURED = /<(?!(?:html|head|body|meta|style|title|span|div|br|img|wbr)\b)[a-z]/i;

/**
 * Whether the plain text beside the HTML says more: the HTML has no structure, and the text has several lines or is
 * Markdown. Not if the HTML shows other letters, such as emoji that are pictures.
 */
export function prefersText(html: string, text: string): boolean {
  if (STRUCTURED.test(html) || !(/[\r\n]/.test(text.trim()) || looksLikeMarkdown(text))) return false;
  const shown = parseInert(htmlToLog(html).html).textContent;
  return withoutSpaces(shown) === withoutSpaces(text);
}

const withoutSpaces = (text: string): string => text.replace(/\s|\u200B|\uFE0F/g, '');
