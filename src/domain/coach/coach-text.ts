/**
 * Parses the coach's text into paragraphs and lists.
 *
 * Threat: a log can tell the model what to write (prompt injection). The result is therefore a closed set of node types
 * without links, images, attributes or raw HTML; everything else remains text.
 */
import { MAX_CITATION_LENGTH } from './citations.ts';
import { withDateLabels } from '../day/day.ts';

export type CoachSpan =
  | { kind: 'text'; text: string }
  /** Cites a line of the log (citations.ts); `text` is the source text: `3.2` or `[3.2]`. */
  | { kind: 'citation'; ref: string; text: string }
  | { kind: 'strong' | 'em'; spans: CoachSpan[] };

export type CoachBlock = { kind: 'paragraph'; spans: CoachSpan[] } | { kind: 'list' | 'numbers'; items: CoachSpan[][] };

/** Up to 12 characters of indentation make no difference, so nested lists are flattened. */
const BULLET = /^\s{0,12}[-*•]\s+(?=\S)/;
const NUMBER = /^\s{0,3}(\d{1,3})[.)]\s+(?=\S)/;
const HEADING = /^\s{0,3}#{1,6}\s+(.*)$/;
const QUOTE = /^\s{0,3}(?:>\s{0,3})*>(?=\s|$)/;
/** A code fence. Only a fence of backticks may carry a language name. */
const FENCE = /^\s{0,3}(?:`{3,}[\w+#.-]{0,30}|~{3,})\s*$/;
/** A line of `---`, `===`, `***` or `___`. */
const HORIZONTAL_RULE = /^\s{0,3}(?:[-=*_]\s{0,3}){3,}$/;
/** The delimiter row of a table: `|---|---|`. */
const TABLE_RULE = /^\s{0,3}\|[\s|:-]*$/;
const TABLE_ROW = /^\s{0,3}\|/;
/** `[label](address "title")`, or an image. The lookahead tells an address from a remark in parentheses. */
const LINK =
  /!?\[([^[\]]{1,200})\]\((?=[^()\s]{0,500}[:/.#])(?:[^()\s]|\([^()\s]{0,100}\)){1,500}(?:\s{1,3}"[^"]{0,200}")?\)/g;
/** An incomplete link at the end of a streamed text. */
const PARTIAL_LINK =
  /!?\[[^[\]]{0,200}(?:\](?:\((?:[^()\s]|\([^()\s]{0,100}\)){0,500}(?:\([^()\s]{0,100}|\s{1,3}(?:"[^"]{0,200}"?)?)?)?)?$/;

const NO_REFS: ReadonlySet<string> = new Set();

/**
 * `isPartial`: the text is still being streamed. Unclosed emphasis then extends to the end of the text, and characters
 * that may become markup are held back. The rest of the text may change emphasis, but never retracts displayed words.
 * `refs`: the refs of the lines that can be cited (citations.ts). Brackets without such a ref remain text.
 */
export function parseCoachText(text: string, { isPartial = false, refs = NO_REFS } = {}): CoachBlock[] {
  const spansOf = (source: string, isSpanPartial: boolean) => parseSpans(source, isSpanPartial, refs);
  const blocks: CoachBlock[] = [];
  let lines: string[] = [];
  const endParagraph = (isLast: boolean): void => {
    if (lines.length > 0) blocks.push({ kind: 'paragraph', spans: spansOf(lines.join('\n'), isPartial && isLast) });
    lines = [];
  };
  const all = text.replace(/\r\n?/g, '\n').split('\n');
  for (const [index, sourceLine] of all.entries()) {
    const isLast = index === all.length - 1;
    if (TABLE_RULE.test(sourceLine)) continue;
    const line = removeUnsupportedMarkdown(sourceLine, isPartial && isLast);
    const before = blocks.at(-1);
    const listed = lines.length === 0 ? before : undefined;
    const number = NUMBER.exec(line);
    const heading = HEADING.exec(line);
    if (BULLET.test(line)) {
      const spans = spansOf(line.replace(BULLET, ''), isPartial && isLast);
      if (listed?.kind === 'list') listed.items.push(spans);
      else {
        endParagraph(false);
        blocks.push({ kind: 'list', items: [spans] });
      }
    } else if (number && Number(number[1]) === (listed?.kind === 'numbers' ? listed.items.length + 1 : 1)) {
      // Any other number remains text: the block has no start number, so its items are always counted from 1.
      const spans = spansOf(line.slice(number[0].length), isPartial && isLast);
      if (listed?.kind === 'numbers') listed.items.push(spans);
      else {
        endParagraph(false);
        blocks.push({ kind: 'numbers', items: [spans] });
      }
    } else if (heading) {
      endParagraph(false);
      blocks.push({
        kind: 'paragraph',
        spans: [{ kind: 'strong', spans: spansOf(withoutClosingHashes(heading[1]!), isPartial && isLast) }],
      });
    } else if (line.trim() === '') endParagraph(false);
    else lines.push(line.trim());
  }
  endParagraph(true);
  return blocks;
}

/** Reduces quotes, code, tables and links to their text. Fences and rules become blank lines, which end a paragraph. */
function removeUnsupportedMarkdown(sourceLine: string, isPartial: boolean): string {
  let line = sourceLine.replace(QUOTE, '');
  if (FENCE.test(line) || HORIZONTAL_RULE.test(line)) return '';
  if (isPartial) line = line.replace(PARTIAL_LINK, '');
  line = line.replace(LINK, linkLabel).replaceAll('`', '').replaceAll('~~', '');
  if (!TABLE_ROW.test(line)) return line;
  const cells = line.split('|').map((cell) => cell.trim());
  return cells.filter((cell) => cell !== '').join(' · ');
}

/** Returns the label of a link. A numeric label keeps its brackets, because it is a citation. */
const linkLabel = (_link: string, label: string): string => (/^[\d\s,.]+$/.test(label) ? `[${label}]` : label);

/** `## Wins ##` becomes `Wins`. */
const withoutClosingHashes = (heading: string): string =>
  heading
    .trimEnd()
    .replace(/(?<!#)#+$/, '')
    .trimEnd();

/** The end of a streamed text that the next delta may turn into emphasis, a citation or a date. */
const PARTIAL_TOKEN = /[*_]{1,3}$|\[[\d\s,.]*$|(?<![\w-])\d{4}(?:-\d{0,2}){0,2}$/;
const DELIMITER = /\*\*|[*_]/;
/** Limits the nesting of emphasis; deeper delimiters remain text. */
const MAX_DEPTH = 4;

/** `unclosed` caches delimiters without a closing one in the rest of the text, to keep the search linear. */
function parseSpans(
  text: string,
  isPartial: boolean,
  refs: ReadonlySet<string>,
  depth = 0,
  unclosed = new Set<string>(),
): CoachSpan[] {
  if (depth > MAX_DEPTH) return withCitations(text, refs);
  const spans: CoachSpan[] = [];
  let rest = isPartial ? text.replace(PARTIAL_TOKEN, '') : text;
  let plain = '';
  const pushPlainText = (): void => {
    if (plain !== '') spans.push(...withCitations(plain, refs));
    plain = '';
  };
  while (rest !== '') {
    const match = DELIMITER.exec(rest);
    if (!match) {
      plain += rest;
      break;
    }
    const [delimiter] = match;
    const before = rest.slice(0, match.index);
    plain += before;
    const after = rest.slice(match.index + delimiter.length);
    const isOpening = canOpen(before, after);
    const end = isOpening && !unclosed.has(delimiter) ? findClosing(after, delimiter) : -1;
    if (isOpening && end < 0) unclosed.add(delimiter);
    const content = end >= 0 ? after.slice(0, end) : isPartial && isOpening ? after : null;
    if (content === null) {
      plain += delimiter;
      rest = after;
      continue;
    }
    pushPlainText();
    const inner =
      end < 0 ? parseSpans(content, isPartial, refs, depth + 1, unclosed) : parseSpans(content, false, refs, depth + 1);
    spans.push({ kind: delimiter === '**' ? 'strong' : 'em', spans: inner });
    rest = end >= 0 ? after.slice(end + delimiter.length) : '';
  }
  pushPlainText();
  return spans;
}

/** True in `**word**`, false in `2 * 3` and `snake_case`. */
const canOpen = (before: string, after: string): boolean =>
  /^[^\s*_]/.test(after) && !/[\p{L}\p{N}]$/u.test(before.slice(-2));

function findClosing(text: string, delimiter: string): number {
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1)) {
    const isSingle = delimiter !== '*' || (text[at + 1] !== '*' && text[at - 1] !== '*');
    const next = text[at + delimiter.length] ?? ' ';
    if (isSingle && /\S/.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}]/u.test(next)) return at;
  }
  return -1;
}

const CITED_NUMBER = String.raw`#?\d{1,7}(?:\.\d{1,7}){0,40}`;
/** `[3.2]`, `[1, 3]` and `[first words]`, as the prompt asks for, or `item 3`, `items 2, 4 and 5`. */
const CITATIONS = new RegExp(
  String.raw`\[[^\[\]\n]{1,${MAX_CITATION_LENGTH}}\]|\bitems?\s{1,3}${CITED_NUMBER}` +
    String.raw`(?:\s{0,3}(?:,\s{0,3}(?:and\s|or\s)?|and|or|to|through|&|[-–])\s{0,3}${CITED_NUMBER}(?!\s{0,3}%))*`,
  'gi',
);

function withCitations(text: string, refs: ReadonlySet<string>): CoachSpan[] {
  const spans: CoachSpan[] = [];
  let at = 0;
  const addText = (to: number): void => {
    if (to > at) spans.push({ kind: 'text', text: withDateLabels(text.slice(at, to)) });
    at = Math.max(at, to);
  };
  for (const { 0: source, index } of refs.size === 0 ? [] : text.matchAll(CITATIONS)) {
    if (source.startsWith('[')) {
      const parts = source.slice(1, -1).split(/,\s*/);
      if (!parts.some((part) => refs.has(part))) continue;
      addText(index);
      at = index + source.length;
      for (const [position, part] of parts.entries()) {
        if (position > 0) spans.push({ kind: 'text', text: ', ' });
        const bracketed = `[${part}]`;
        spans.push(
          refs.has(part) ? { kind: 'citation', ref: part, text: bracketed } : { kind: 'text', text: bracketed },
        );
      }
      continue;
    }
    for (const { 0: ref, index: offset } of source.matchAll(/\d+(?:\.\d+)*/g)) {
      if (!refs.has(ref)) continue;
      addText(index + offset);
      spans.push({ kind: 'citation', ref, text: ref });
      at += ref.length;
    }
  }
  addText(text.length);
  return spans;
}
