/**
 * Converts pasted HTML to HTML that the editor's schema parses as the user saw it. Word writes lists as paragraphs,
 * Google Docs marks bold with styles and puts nested lists beside their item, and the schema would join the cells of a
 * table and drop the address of a link. The HTML is parsed in an inert document, which loads nothing and runs nothing.
 */
import { linkAsText } from '#domain/log/links.ts';
import { joinCells } from '#domain/log/pasted-markdown.ts';
import { parseInert, withoutStyles } from '#client/lib/log-html/inert-html.ts';

const WORD_LIST = /mso-list:\s*[^;]*?level(\d)/i;

/**
 * HTML with more elements and comments is pasted as plain text. A log of 256 KB, pasted from Word, has some 3,000. Threat: a copied
 * page holds 90,000 unclosed elements, which the browser nests 512 levels deep, and the journal stops for a minute.
 */
const MAX_ELEMENTS = 10_000;
/** Word writes some hundred characters. The patterns take time with the square of the length. */
const MAX_STYLE_LENGTH = 2_000;

const styleOf = (element: Element): string => (element.getAttribute('data-style') ?? '').slice(0, MAX_STYLE_LENGTH);
const isBlank = ({ textContent }: Node): boolean => !/\S/.test(textContent ?? '');
const textOf = (element: Element): string => (element.textContent ?? '').replace(/\s+/g, ' ').trim();

export function cleanPastedHtml(pasted: string): string {
  const html = withoutNonContent(pasted);
  if ((html.match(/<[a-z!]/gi)?.length ?? 0) > MAX_ELEMENTS) return textAsHtml(html);
  // HTML copied from a ProseMirror editor needs no repair. ProseMirror reads the slice's open ends from this attribute.
  const isSlice = /\sdata-pm-slice=/.test(html);
  if (isSlice && !/<a\s/i.test(html)) return withoutStyles(html);
  const body = parseInert(html);
  keepAddresses(body);
  if (isSlice) return body.innerHTML;
  removeComments(body);
  tablesToLines(body);
  wordListsToLists(body);
  nestStrayLists(body);
  stylesToMarks(body);
  removeBlankLines(body);
  return body.innerHTML;
}

const NON_CONTENT = /<(style|script|head|title|xml|o:p)\b[^<>]*>/gi;

/** Removes stylesheets and scripts. Searches the end of unclosed ones once. */
function withoutNonContent(html: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: tag, 1: name, index } of html.matchAll(NON_CONTENT)) {
    if (index < from || unclosed.has(name!)) continue;
    const closing = new RegExp(`</${name}\\s*>`, 'gi');
    closing.lastIndex = index + tag.length;
    if (closing.test(html)) {
      kept.push(html.slice(from, index));
      from = closing.lastIndex;
    } else unclosed.add(name!);
  }
  return [...kept, html.slice(from)].join(' ');
}

/** One paragraph for each line. The text keeps its character references. */
const textAsHtml = (html: string): string =>
  withoutStyles(html)
    .replace(/<!--[^<>]*-->|<\/?(?:strong|em|b|i|u|s|a|code|span|font)\b[^<>]*>/gi, '')
    .split(/<[^<>]*>?|[\r\n]+/)
    .filter((line) => line.trim() !== '')
    .map((line) => `<p>${line}</p>`)
    .join('');

function removeComments(root: Element): void {
  const document = root.ownerDocument;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_COMMENT);
  const comments: Node[] = [];
  while (walker.nextNode()) comments.push(walker.currentNode);
  for (const comment of comments) comment.parentNode?.removeChild(comment);
}

const unwrap = (element: Element): void => element.replaceWith(...element.childNodes);

function rename(element: Element, tag: string): Element {
  const renamed = element.ownerDocument.createElement(tag);
  renamed.append(...element.childNodes);
  element.replaceWith(renamed);
  return renamed;
}

/**
 * Logs store no links, so append the address to the link's text, or replace the text. An address in code would change
 * the code.
 */
function keepAddresses(root: Element): void {
  for (const link of root.querySelectorAll('a[href]')) {
    if (link.closest('pre, code')) continue;
    const { suffix, replacement } = linkAsText(textOf(link), link.getAttribute('href')!);
    if (replacement !== null) link.textContent = replacement;
    if (suffix !== null) link.append(suffix);
  }
}

/** Converts each row to a line. A table of one column is a layout table, so its content stays as it is. */
function tablesToLines(root: Element): void {
  for (const table of [...root.querySelectorAll('table')].reverse()) {
    const rows = [...table.querySelectorAll('tr')];
    const cells = rows.map((row) => [...row.querySelectorAll('td, th')]);
    if (cells.every((row) => row.length <= 1)) {
      table.replaceWith(...cells.flat().flatMap((cell) => [...rename(cell, 'div').childNodes]));
      continue;
    }
    const lines = cells.map((row) => joinCells(row.map(textOf))).filter((line) => line !== '');
    const paragraphs = lines.map((line) => {
      const paragraph = root.ownerDocument.createElement('p');
      paragraph.textContent = line;
      return paragraph;
    });
    table.replaceWith(...paragraphs);
  }
}

/** Converts paragraphs that Word styles as list items to nested lists. */
function wordListsToLists(root: Element): void {
  let lists: Element[] = [];
  /** The last node that follows the outermost list without text between them, or that list. */
  let end: Node | null = null;
  for (const paragraph of root.querySelectorAll('p[data-style*="mso-list"], li[data-style*="mso-list"]')) {
    const level = Number(WORD_LIST.exec(styleOf(paragraph))?.[1] ?? 0);
    if (level === 0 || paragraph.localName === 'li') continue;
    const marker = takeWordMarker(paragraph);
    end = end && lastBlankBefore(end, paragraph);
    if (end?.nextSibling !== paragraph) {
      lists = [];
      end = null;
    }
    lists.length = Math.min(lists.length, level);
    while (lists.length < level) lists.push(openList(paragraph, lists.at(-1), marker));
    const item = lists.at(-1)!.appendChild(root.ownerDocument.createElement('li'));
    item.append(...paragraph.childNodes);
    end ??= lists[0]!;
    paragraph.remove();
  }
}

/** Removes and returns the list marker that Word writes as text, such as `1.` or `·`. */
function takeWordMarker(paragraph: Element): string {
  const marker = [...paragraph.querySelectorAll('span')].find((span) => /mso-list:\s*ignore/i.test(styleOf(span)));
  marker?.remove();
  return marker ? textOf(marker) : '';
}

/** The last node before `paragraph`, or before the next text, from `from` on. */
function lastBlankBefore(from: Node, paragraph: Element): Node {
  let last = from;
  for (let next = last.nextSibling; next && next !== paragraph && isBlank(next); next = last.nextSibling) last = next;
  return last;
}

function openList(paragraph: Element, parent: Element | undefined, marker: string): Element {
  const list = paragraph.ownerDocument.createElement(/^\(?(?:\d+|[a-z]+)[.)]/i.test(marker) ? 'ol' : 'ul');
  if (!parent) paragraph.before(list);
  else (parent.lastElementChild ?? parent.appendChild(paragraph.ownerDocument.createElement('li'))).append(list);
  return list;
}

/**
 * Moves a list that is a direct child of another list into the item before it. Without such an item, unwraps the list.
 */
function nestStrayLists(root: Element): void {
  for (const list of root.querySelectorAll('ul > ul, ul > ol, ol > ul, ol > ol')) {
    const item = list.previousElementSibling;
    if (item?.localName === 'li') item.append(list);
    else list.replaceWith(...list.children);
  }
}

const MARKS: readonly [tag: string, style: RegExp][] = [
  ['strong', /font-weight:\s*(?:bold|[6-9]00)/i],
  ['em', /font-style:\s*italic/i],
  ['u', /text-decoration(?:-line)?:[^;]*underline/i],
  ['s', /text-decoration(?:-line)?:[^;]*line-through/i],
];

/** Converts styles to elements, and unwraps a `<b>` that is styled as not bold (Google Docs). */
function stylesToMarks(root: Element): void {
  for (const element of root.querySelectorAll('[data-style]')) {
    const style = styleOf(element);
    element.removeAttribute('data-style');
    if (/^(?:b|strong)$/.test(element.localName) && /font-weight:\s*(?:normal|[1-5]00)/i.test(style)) {
      unwrap(element);
    } else if (element.localName === 'span') {
      for (const [tag, pattern] of MARKS) {
        if (!pattern.test(style)) continue;
        const mark = root.ownerDocument.createElement(tag);
        mark.append(...element.childNodes);
        element.append(mark);
      }
    }
  }
}

/** Removes empty paragraphs and the line breaks between blocks, which word processors use as spacing. */
function removeBlankLines(root: Element): void {
  for (const block of root.querySelectorAll('p, div')) if (isBlank(block) && !block.querySelector('li')) block.remove();
  for (const lineBreak of root.querySelectorAll('br')) {
    const between = lineBreak.previousElementSibling ?? lineBreak.nextElementSibling;
    if (lineBreak.parentElement === root && /^(?:p|ul|ol|h\d|div)$/.test(between?.localName ?? '')) lineBreak.remove();
  }
}

/** Whether pasted or dropped data is a picture or another file, without text that a log could hold. */
export function isTextless(data: DataTransfer): boolean {
  const html = data.getData('text/html');
  const hasFile = data.types.includes('Files') || /<img\b/i.test(html);
  return hasFile && data.getData('text/plain').trim() === '' && parseInert(html).textContent.trim() === '';
}
