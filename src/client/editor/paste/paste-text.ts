/** Pasted plain text as lines of a list: what a terminal, a chat or a note hands over when it copies several lines. */
import { joinCells } from '#domain/log/pasted-markdown.ts';

export type PastedLine = {
  /** 0 for the outermost list. Only lines with markers are ever nested. */
  level: number;
  text: string;
  /** What the line's own marker said; null where it had none. */
  marker: 'number' | 'bullet' | null;
};

const INDENT = /^[ \t]*/;
const TAB_WIDTH = 4;
/** Up to three digits: `2026. A good year` is a sentence. */
const NUMBER = /^\(?(?:\d{1,3}|[a-z])[.)]\s+(?=\S)/;
/** `o` and a tab is how Word writes a hollow bullet as plain text. */
const BULLET = /^(?:[-*+•◦▪‣·–—]\s+(?=\S)|o\t+(?=\S))/;
/** Not `✓`, which programs print before what went well. */
const CHECKBOX = /^(?:\[[ xX]?\]|[☐☑☒])\s+(?=\S)/;
/** An empty line of a quoted mail, the line above its signature, a ruler. */
const NO_WORDS = /^[\s>=_*-]*$/;

const indentOf = (line: string): number => {
  const spaces = INDENT.exec(line)![0];
  return spaces.length + (spaces.split('\t').length - 1) * (TAB_WIDTH - 1);
};

/** A line without the list marker it may begin with. */
export function withoutMarker(line: string): { text: string; marker: PastedLine['marker'] } {
  const trimmed = line.trim();
  const numbered = trimmed.replace(NUMBER, '');
  if (numbered !== trimmed) return { text: numbered.replace(CHECKBOX, ''), marker: 'number' };
  const bullet = trimmed.replace(BULLET, '').replace(CHECKBOX, '');
  return { text: bullet, marker: bullet === trimmed ? null : 'bullet' };
}

/** A row of a table that a spreadsheet or a terminal copied. */
const isRow = (line: string): boolean => /\S *\t/.test(line) && withoutMarker(line).marker === null;

/** The lines of a text that say something, without their markers, nested as their indentation says. */
export function parsePastedText(text: string): PastedLine[] {
  const filled = text.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  const worded = filled.filter((line) => !NO_WORDS.test(line));
  const written = worded.length > 1 ? worded : filled;
  const isTable = written.length > 1 && written.every(isRow);
  const lines = written.map((line) => ({
    ...withoutMarker(isTable ? joinCells(line.split('\t')) : line),
    indent: isTable ? 0 : indentOf(line),
  }));
  // Indented lines without any marker are code or prose: one item each, as flat as they came.
  const isList = lines.some((line) => line.marker !== null);
  const indents: number[] = [];
  return lines.map(({ text: words, marker, indent }) => {
    while (indents.length > 0 && indent < indents.at(-1)!) indents.pop();
    if (indents.length === 0 || indent > indents.at(-1)!) indents.push(indent);
    return { level: isList ? indents.length - 1 : 0, text: words, marker };
  });
}
