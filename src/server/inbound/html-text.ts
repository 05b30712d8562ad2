/**
 * The plain text of an HTML mail, without what mail clients mark as quotation or signature. htmlparser2 reports tags as
 * events and builds no tree, so deep nesting cannot overflow the call stack. Nothing of the mail is rendered or loaded.
 */
import { Parser } from 'htmlparser2';

/** Elements whose content is no text of the mail. */
const UNREAD = new Set(['head', 'style', 'script', 'title', 'template', 'noscript', 'object', 'select', 'textarea']);
const BLOCKS = new Set(
  'address article aside blockquote body center dd details div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th']);

/** Classes that mail programs give to quotations. */
const QUOTE_CLASS =
  /(?:^|[\s_])(?:gmail_attr|moz-cite-prefix|moz-forward-container|protonmail_quote|yahoo_quoted|zmail_extra|tutanota_quote|quote-header)(?:$|\s)/;
const SIGNATURE = /signature|zm-_id_-sgn/i;
const SIGNATURE_ID = /^(?:x_)*sig\d*$/;
/** The id of a line break in front of a signature. */
const BREAK_ID = /^lineBreak/;
/** The style of the line that Foxmail draws above a signature. */
const FOXMAIL_RULE = /^width: 210px/i;
const HIDDEN = /display:\s*none|mso-hide:\s*all/i;
/** Outlook puts the quotation behind these elements, not into them. */
const REST_IS_QUOTE_ID =
  /^(?:x_)*(?:divRplyFwdMsg|appendonsend|mail-editor-reference-message-container|ms-outlook-mobile-body-separator-line)$/;

const EMOJI = /^\p{RGI_Emoji}$/v;

type Attributes = Readonly<Record<string, string>>;

function isSkipped(name: string, attributes: Attributes): boolean {
  if (UNREAD.has(name)) return true;
  const { class: classes = '', id = '', name: named = '', style = '' } = attributes;
  if (HIDDEN.test(style) || name === 'signature') return true;
  if (SIGNATURE.test(`${classes} ${named} ${'data-signature-widget' in attributes ? 'signature' : ''}`)) return true;
  return (SIGNATURE.test(id) || SIGNATURE_ID.test(id)) && !BREAK_ID.test(id);
}

function isQuotation(name: string, { class: classes = '', id = '', type = '', name: named = '' }: Attributes): boolean {
  if (name === 'blockquote') return type === 'cite' || /cite|quote/.test(`${classes} ${id}`);
  return QUOTE_CLASS.test(classes) || named === 'quote' || named === 'messageReplySection';
}

/** The items of deeper lists are indented no further. */
const MAX_LIST_DEPTH = 20;

/**
 * More elements than this, in all or open at once, end the text. Threat: each tag costs the parser time in proportion
 * to the open elements, so a mail of many tags takes quadratic time.
 */
const MAX_ELEMENTS = 8_000;
const MAX_OPEN_ELEMENTS = 1_000;

export function htmlToText(html: string): string {
  const lines: string[] = [];
  let line = '';
  /** How many elements are open within a skipped one, that one included. */
  let skipped = 0;
  let elements = 0;
  let open = 0;
  let pre = 0;
  /** The next number of each open list; null in a list without numbers. */
  const lists: (number | null)[] = [];

  function endLine(): void {
    const words = line.trimEnd();
    // The space is a part of the delimiter of a signature.
    if (words !== '') lines.push(words === '--' && line !== words ? '-- ' : words);
    line = '';
  }
  const parser = new Parser({
    onopentag(name, attributes) {
      elements += 1;
      open += 1;
      if (elements > MAX_ELEMENTS || open > MAX_OPEN_ELEMENTS) return parser.pause();
      const isQuoted = skipped === 0 && isQuotation(name, attributes);
      if (isQuoted) {
        endLine();
        // Marks the quotation as a plain text does, so that `reply-text.ts` finds the line "On … wrote:" above it.
        lines.push('>');
      }
      if (isQuoted || skipped > 0 || isSkipped(name, attributes)) {
        skipped += 1;
        return;
      }
      // An emoji that comes as a picture.
      if (name === 'img' && EMOJI.test(attributes['alt'] ?? '')) line += attributes['alt'];
      if (REST_IS_QUOTE_ID.test(attributes['id'] ?? '')) return parser.pause();
      if (name === 'br') {
        // A `<br>` on an empty line makes a blank line.
        if (line.trim() === '') lines.push('');
        endLine();
        return;
      }
      if (CELLS.has(name) && line.trim() !== '') line += '\t';
      if (!BLOCKS.has(name)) return;
      endLine();
      if (name === 'p' || name === 'hr') lines.push('');
      if (name === 'hr' && FOXMAIL_RULE.test(attributes['style'] ?? '')) lines.push('-- ');
      if (name === 'pre') pre += 1;
      if (name === 'ol' || name === 'ul') lists.push(name === 'ol' ? 1 : null);
      if (name === 'li') line = startItem();
    },
    ontext(text) {
      if (skipped > 0) return;
      if (pre > 0) {
        const [first = '', ...rest] = text.split('\n');
        line += first;
        for (const next of rest) {
          endLine();
          line = next;
        }
        return;
      }
      const words = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
      line += line === '' ? words.trimStart() : words;
    },
    onclosetag(name) {
      open -= 1;
      if (skipped > 0) {
        skipped -= 1;
        return;
      }
      if (!BLOCKS.has(name)) return;
      endLine();
      if (name === 'pre') pre = Math.max(0, pre - 1);
      if (name === 'ol' || name === 'ul') lists.pop();
      if (name === 'p' || name === 'blockquote') lines.push('');
    },
  });
  parser.write(html);
  parser.end();
  endLine();
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll('\u00A0', ' ')
    .trim();

  function startItem(): string {
    const next = lists.at(-1) ?? null;
    if (next !== null) lists[lists.length - 1] = next + 1;
    const indent = '  '.repeat(Math.min(Math.max(lists.length - 1, 0), MAX_LIST_DEPTH));
    return `${indent}${next === null ? '-' : `${next}.`} `;
  }
}
