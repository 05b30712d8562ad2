/** Reads plain text from a terminal, a chat or a note as paragraphs and lists. In doubt it is text: no letter is lost. */
import { escapeHtml } from '../export/escape-html.ts';
import { withoutControls } from './entry-html.ts';
import { addBlock, appendToLastBlock, createRoot, writeLog, type ListTag } from './log-builder.ts';
import { joinCells } from './pasted-markdown.ts';

/** Also the separators of Unicode, of old terminals and of a soft break in PowerPoint. */
// oxlint-disable-next-line no-control-regex
const LINE_END = /\r\n?|[\n\u000B\u000C\u0085\u2028\u2029]/g;
const PLACEHOLDER = /[\uFFFC\uFEFF]/g;

/** With `\n` as the only line end, and without controls, which no log stores, and placeholders of pictures. */
export const normalizeText = (text: string): string =>
  withoutControls(text.replace(LINE_END, '\n')).replace(PLACEHOLDER, '');

const INDENT = /^[ \t]*/;
const TAB_WIDTH = 4;
/** Up to three digits: `2026. A good year` is a sentence. `3. 11. 2026` is a date. */
const NUMBER = /^(\(?)(\d{1,3}|[a-z])([.)])\s+(?=\S)(?!\d{1,2}\.(?:\s|\d{2,4}\b))/i;
/** Word writes a hollow bullet as `o` and a tab. `- 5 °C` and `+ 3 customers` are no items: a sign before a digit stays. */
const BULLET = /^(?:[*•◦▪‣·]\s+|[-+–]\s+(?!\d)|o\t+)(?=\S)/;
/** Kept as text. Not `✓`, which programs print before a success message. */
const CHECKBOX = /^(?:\[[ xX]?\]|[☐☑☒])\s+\S/;

type Line = {
  text: string;
  indent: number;
  marker: { tag: ListTag; length: number; value: number | null; style: string } | null;
};

const indentOf = (line: string): number => {
  const spaces = INDENT.exec(line)![0];
  return spaces.length + (spaces.split('\t').length - 1) * (TAB_WIDTH - 1);
};

/** A table row copied from a spreadsheet or a terminal. */
const isRow = (line: string): boolean => /\S *\t/.test(line) && !BULLET.test(line.trim()) && !NUMBER.test(line.trim());

function readMarker(text: string): Line['marker'] {
  const number = NUMBER.exec(text);
  if (number) {
    const [marker, open, value, end] = number;
    const isDigit = /\d/.test(value!);
    const style = `${open}${isDigit ? '1' : value! < 'a' ? 'A' : 'a'}${end}`;
    const ordinal = isDigit ? Number(value) : value!.toLowerCase().charCodeAt(0) - 'a'.charCodeAt(0) + 1;
    return { tag: 'ol', length: marker.length, value: ordinal, style };
  }
  const bullet = BULLET.exec(text);
  if (bullet) return { tag: 'ul', length: bullet[0].length, value: null, style: bullet[0][0]! };
  return CHECKBOX.test(text) ? { tag: 'ul', length: 0, value: null, style: 'box' } : null;
}

/**
 * Removes the markers that may be text: a number or letter that its neighbour does not continue, a single en dash, and the
 * signs of a diff.
 */
function dropDoubtfulMarkers(lines: readonly Line[]): void {
  const styles = new Set(lines.map(({ indent, marker }) => marker && `${indent} ${marker.style}`));
  const inRun = new Set<Line>();
  let open: Line[] = [];
  for (const line of lines) {
    open = open.filter(({ indent }) => indent <= line.indent);
    const { marker } = line;
    if (!marker) continue;
    const isSame = (other: Line): boolean => other.indent === line.indent && other.marker?.style === marker.style;
    const before = open.find(isSame);
    if (before && (marker.value === null || marker.value === before.marker!.value! + 1)) inRun.add(before).add(line);
    open = [...open.filter((other) => !isSame(other)), line];
  }
  for (const line of lines) {
    const { marker, indent } = line;
    const isDiff =
      marker !== null && styles.has(`${indent} -`) && styles.has(`${indent} +`) && /[-+]/.test(marker.style);
    const isDoubtful = marker !== null && (marker.tag === 'ol' || marker.style === '–') && !inRun.has(line);
    if (isDiff || isDoubtful) line.marker = null;
  }
}

function readLines(text: string): Line[] {
  const raw = normalizeText(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isTable = raw.length > 1 && raw.every(isRow);
  const lines = raw.map((line): Line => {
    if (isTable) return { text: joinCells(line.split('\t')), indent: 0, marker: null };
    return { text: line.trim(), indent: indentOf(line), marker: readMarker(line.trim()) };
  });
  dropDoubtfulMarkers(lines);
  return lines;
}

/** A sign before a digit, beside items with the same sign: an item that keeps it. */
const SIGNED = /^[-+–]\s+\d/;

/** The lines as the HTML of a log, lists nested by their indentation, and the number of lines that have text. */
export function textToLog(text: string): { html: string; lines: number } {
  const lines = readLines(text);
  const root = createRoot();
  /** The indents of the open items. */
  let indents: number[] = [];
  for (const [index, { text: words, indent, marker }] of lines.entries()) {
    const isBesideItems = [lines[index - 1], lines[index + 1]].some(
      (line) => line?.indent === indent && line.marker?.style === words[0],
    );
    const item =
      marker ?? (SIGNED.test(words) && isBesideItems ? { tag: 'ul' as const, length: 0, value: null } : null);
    const html = escapeHtml(item ? words.slice(item.length) : words);
    if (item) {
      while (indents.length > 0 && indent < indents.at(-1)!) indents.pop();
      if (indents.length === 0 || indent > indents.at(-1)!) indents.push(indent);
      const list = { level: indents.length, tag: item.tag, source: item.tag, number: item.value };
      addBlock({ kind: 'item', parent: root, ...list, continues: false, flow: null }, 'p', html);
    } else if (indents.length > 0 && indent > indents.at(-1)!) appendToLastBlock(root, `<br>${html}`);
    else {
      indents = [];
      addBlock(root, 'p', html);
    }
  }
  return { html: writeLog(root), lines: lines.length };
}
