/** Reads plain text from a terminal, a chat or a note as paragraphs and lists. In doubt it is text: no letter is lost. */
import { escapeHtml, withoutControls } from './entry-html.ts';
import { addBlock, appendToLastBlock, createRoot, writeLog, type ListTag, type Root } from './log-builder.ts';
import { createIndents, INDENT, indentOf, isIndentedCode, type ShowIndents } from './indented-text.ts';
import { joinCells } from './pasted-markdown.ts';

/** Includes the line ends of Unicode (U+2028, U+2029), old terminals (FF, NEL) and PowerPoint's soft breaks (VT). */
// oxlint-disable-next-line no-control-regex
const LINE_END = /\r\n?|[\n\u000B\u000C\u0085\u2028\u2029]/g;
const PLACEHOLDER = /[\uFFFC\uFEFF]/g;

/** ANSI escape sequences of a terminal: colours (CSI) and links (OSC). */
// oxlint-disable-next-line no-control-regex
const TERMINAL_SEQUENCE = /\u001B(?:\[[\d;:?]{0,40}[A-Za-z]|\][^\u0007\u001B]{0,2000}(?:\u0007|\u001B\\))/g;

/** Makes `\n` the only line end, and removes ANSI sequences, controls and placeholders of pictures. */
export const normalizeText = (text: string): string =>
  withoutControls(text.replace(LINE_END, '\n').replace(TERMINAL_SEQUENCE, '')).replace(PLACEHOLDER, '');

/** Up to three digits: `2026. A good year` is a sentence. `3. 11. 2026` is a date. */
const NUMBER = /^(\(?)(\d{1,3}|[a-z])([.)])\s+(?=\S)(?!\d{1,2}\.(?:\s|\d{2,4}\b))/i;
const HAN_DIGITS = '一二三四五六七八九十';
/**
 * The number of an item in Chinese, Japanese and Korean, mostly without a blank: `１．`, `1、`, `（一）`, `①`. `3、4月`
 * and `１．５時間` are not items.
 */
const WIDE_NUMBER = new RegExp(
  String.raw`^(?:([(（]?)(\d{1,3}|[０-９]{1,3}|[${HAN_DIGITS}]{1,3})([.．、)）])|([①-⒛❶-❿㈠-㈩㊀-㊉]))\s*(?=\S)(?![\p{N}${HAN_DIGITS}])`,
  'u',
);
const NARROW_NUMBER = /^\(?\d+[.)]$/;
const WIDE_LETTER = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/**
 * Word writes a hollow bullet as `o` and a tab, and a PDF has the codes of a symbol font. `- 5 °C` and `+ 3 customers`
 * are not items: a sign before a digit stays. `* * *` is a rule.
 */
const BULLET = /^(?:[*•◦▪‣·●○■\uF0A7\uF0B7]\s+|[-+–]\s+(?!\d)|o\t+)(?=\S)(?![-*•–\s]+$)/;
/** Kept as text. Not `✓`, which programs print before a success message. */
const CHECKBOX = /^(?:\[[ xX]?\]|[☐☑☒])\s+\S/;

type Line = {
  text: string;
  indent: number;
  marker: { tag: ListTag; length: number; value: number | null; style: string } | null;
};

/** Rows copied from a spreadsheet or a terminal. The first cells of some of them may be empty. */
const isTable = (lines: readonly string[]): boolean =>
  lines.length > 1 &&
  /\S *\t/.test(lines[0]!) &&
  lines.every((line) => line.includes('\t') && !BULLET.test(line.trim()) && readNumber(line.trim()) === null);

function readNumber(text: string): Line['marker'] {
  const number = NUMBER.exec(text);
  if (!number) return readWideNumber(text);
  const [marker, open, value, end] = number;
  const isDigit = /\d/.test(value!);
  const style = `${open}${isDigit ? '1' : value! < 'a' ? 'A' : 'a'}${end}`;
  const ordinal = isDigit ? Number(value) : value!.toLowerCase().charCodeAt(0) - 'a'.charCodeAt(0) + 1;
  return { tag: 'ol', length: marker.length, value: ordinal, style };
}

function readWideNumber(text: string): Line['marker'] {
  const [marker, open = '', digits, end = '', sign = ''] = WIDE_NUMBER.exec(text) ?? [];
  if (marker === undefined) return null;
  const isNarrow = NARROW_NUMBER.test(marker);
  // `1.5` and `1.a` are not items.
  if (isNarrow && !WIDE_LETTER.test(text.slice(marker.length))) return null;
  // Unicode maps `⑴` to `(1)`, and has no plain form of `❶`.
  const plain = (digits ?? sign)
    .replace(/[❶-❿]/, (dingbat) => String(dingbat.charCodeAt(0) - 0x2775))
    .normalize('NFKC');
  const value = toOrdinal(plain.replaceAll(/[().]/g, ''));
  if (value === null) return null;
  const kind = digits === undefined ? `①${plain.replaceAll(/[^(.]/g, '')}` : /\d/.test(plain) ? '１' : '一';
  return { tag: 'ol', length: marker.length, value, style: isNarrow ? `${open}1${end}` : `${open}${kind}${end}` };
}

/** Reads digits, or a Chinese number below 100: `十二`, `二十`. */
function toOrdinal(text: string): number | null {
  if (/\d/.test(text)) return Number(text);
  const [, tens = '', ten, ones = ''] = /^([一二三四五六七八九]?)(十?)([一二三四五六七八九]?)$/.exec(text) ?? [];
  if (ten === '' && tens !== '' && ones !== '') return null;
  const valueOf = (digit: string): number => (digit === '' ? 0 : HAN_DIGITS.indexOf(digit) + 1);
  return ten ? (valueOf(tens) || 1) * 10 + valueOf(ones) : valueOf(tens || ones) || null;
}

function readMarker(text: string): Line['marker'] {
  const number = readNumber(text);
  if (number) return number;
  const bullet = BULLET.exec(text);
  if (bullet) return { tag: 'ul', length: bullet[0].length, value: null, style: bullet[0][0]! };
  return CHECKBOX.test(text) ? { tag: 'ul', length: 0, value: null, style: 'box' } : null;
}

/**
 * Removes the markers that may be text: a number or letter that its neighbour does not continue, a single en dash, and
 * the signs of a diff. Markdown writes `1.` for every item, and a 1 below another item begins a list.
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
    const isFirst = marker.style.includes('1') && marker.value === 1;
    const isNested = open.some(
      (other) => other.indent < line.indent && (other.marker!.tag === 'ul' || inRun.has(other)),
    );
    if (before && isFirst && (before.marker!.value ?? 1) === 1) {
      inRun.add(before).add(line);
      marker.value = null;
    } else if (before && (marker.value === null || marker.value === before.marker!.value! + 1))
      inRun.add(before).add(line);
    else if (isFirst && isNested) inRun.add(line);
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

/** `indented`: the lines whose indentation is shown, by block. */
function readLines(text: string): { lines: Line[]; indented: readonly (readonly Line[])[] } {
  const filled = text.split('\n').filter((line) => line.trim() !== '');
  if (isTable(filled)) {
    const rows = filled.map((line) => ({ text: joinCells(line.split('\t')), indent: 0, marker: null }));
    return { lines: rows, indented: [] };
  }
  const blocks = text.split(BLANK_LINES).map((block) => block.split('\n').filter((line) => line.trim() !== ''));
  const read = blocks.map((block) => block.map(readLine));
  const lines = read.flat();
  dropDoubtfulMarkers(lines);
  // Below an item, the indentation says what belongs to it.
  const isPlain = (block: readonly Line[]): boolean => block.every(({ marker }) => marker === null);
  return { lines, indented: isPlain(lines) ? [lines] : read.filter(isPlain) };
}

const BLANK_LINES = /\n(?:[^\S\n]*\n)+/;

function readLine(line: string): Line {
  const marker = readMarker(line.trim());
  const text = marker ? line.trim() : line.replace(/^[^\S\u00A0]+/, '').trimEnd();
  return { text, indent: indentOf(line), marker };
}

/** Keeps the indentation that a reader sees, as in an outline, a stack trace or a poem. */
function indentLines(lines: readonly Line[], showIndents: ShowIndents): void {
  const common = lines.reduce((least, { indent }) => Math.min(least, indent), Infinity);
  const indents = showIndents(lines.map(({ indent }) => indent - common));
  for (const [index, line] of lines.entries()) line.text = indents[index]! + line.text;
}

/** `- 5 °C`, which `BULLET` excludes. Beside items with the same sign it is an item too, and keeps the sign. */
const SIGNED = /^[-+–]\s+\d/;

/** The parts of a text: code, or the lines between. Blank lines are part of the code around them. */
function splitCode(lines: readonly string[]): { isCode: boolean; lines: string[] }[] {
  if (isIndentedCode(lines)) return [{ isCode: true, lines: [...lines] }];
  const parts: { isCode: boolean; lines: string[] }[] = [];
  let from = 0;
  for (const [index, line] of lines.entries()) {
    if (index + 1 < lines.length && (line.trim() !== '' || lines[index + 1]!.trim() === '')) continue;
    const chunk = lines.slice(from, index + 1);
    from = index + 1;
    const kind = isIndentedCode(chunk);
    const last = parts.at(-1);
    if (last?.isCode === kind) last.lines.push(...chunk);
    else parts.push({ isCode: kind, lines: chunk });
  }
  return parts;
}

/** Removes blank lines around the code, and the indentation that all its lines share. */
function codeText(lines: readonly string[]): string {
  const filled = lines.filter((line) => line.trim() !== '');
  const common = INDENT.exec(filled[0]!)![0];
  const isShared = filled.every((line) => line.startsWith(common));
  return lines
    .map((line) => (isShared ? line.slice(common.length) : line))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** The lines as the HTML of a log, lists nested by their indentation, and the number of lines that have text. */
export function textToLog(text: string): { html: string; lines: number } {
  const parts = splitCode(normalizeText(text).split('\n'));
  const root = createRoot();
  let count = 0;
  const showIndents = createIndents();
  for (const part of parts) {
    if (part.isCode) {
      addBlock(root, 'pre', escapeHtml(codeText(part.lines)));
      continue;
    }
    const { lines, indented } = readLines(part.lines.join('\n'));
    for (const block of indented) indentLines(block, showIndents);
    count += addLines(root, lines);
  }
  return { html: writeLog(root), lines: parts.some((part) => part.isCode) ? Math.max(2, count) : count };
}

/** Adds the lines as paragraphs and items. Returns their number. */
function addLines(root: Root, lines: readonly Line[]): number {
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
  return lines.length;
}
