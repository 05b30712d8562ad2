/** Parses pasted plain text, from a terminal, a chat or a note, into lines of a list. */
import { joinCells } from '#domain/log/pasted-markdown.ts';

export type PastedLine = {
  /** 0 for the outermost list. Only text with markers is nested. */
  level: number;
  text: string;
  /** The kind of the line's marker; null without one. */
  marker: 'number' | 'bullet' | null;
};

const INDENT = /^[ \t]*/;
const TAB_WIDTH = 4;
/** Up to three digits: `2026. A good year` is a sentence. */
const NUMBER = /^\(?(?:\d{1,3}|[a-z])[.)]\s+(?=\S)/;
/** Word writes a hollow bullet as `o` and a tab in plain text. */
const BULLET = /^(?:[-*+•◦▪‣·–—]\s+(?=\S)|o\t+(?=\S))/;
/** Not `✓`, which programs print before a success message. */
const CHECKBOX = /^(?:\[[ xX]?\]|[☐☑☒])\s+(?=\S)/;
/** Matches an empty line of a quoted mail, a signature separator or a horizontal rule. */
const NO_WORDS = /^[\s>=_*-]*$/;

const indentOf = (line: string): number => {
  const spaces = INDENT.exec(line)![0];
  return spaces.length + (spaces.split('\t').length - 1) * (TAB_WIDTH - 1);
};

/** Removes a leading list marker and a checkbox. A checkbox without a list marker counts as a bullet. */
export function withoutMarker(line: string): { text: string; marker: PastedLine['marker'] } {
  const trimmed = line.trim();
  const numbered = trimmed.replace(NUMBER, '');
  if (numbered !== trimmed) return { text: numbered.replace(CHECKBOX, ''), marker: 'number' };
  const bullet = trimmed.replace(BULLET, '').replace(CHECKBOX, '');
  return { text: bullet, marker: bullet === trimmed ? null : 'bullet' };
}

/** Whether a line is a table row copied from a spreadsheet or a terminal. */
const isRow = (line: string): boolean => /\S *\t/.test(line) && withoutMarker(line).marker === null;

/**
 * The lines without their markers, nested by their indentation. Drops blank lines and, if at least two lines have
 * words, all lines without words.
 */
export function parsePastedText(text: string): PastedLine[] {
  const nonBlank = text.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  const withWords = nonBlank.filter((line) => !NO_WORDS.test(line));
  const chosen = withWords.length > 1 ? withWords : nonBlank;
  const isTable = chosen.length > 1 && chosen.every(isRow);
  const lines = chosen.map((line) => ({
    ...withoutMarker(isTable ? joinCells(line.split('\t')) : line),
    indent: isTable ? 0 : indentOf(line),
  }));
  // Indented text without any marker is code or prose: one flat item per line.
  const isList = lines.some((line) => line.marker !== null);
  const indents: number[] = [];
  return lines.map(({ text: lineText, marker, indent }) => {
    while (indents.length > 0 && indent < indents.at(-1)!) indents.pop();
    if (indents.length === 0 || indent > indents.at(-1)!) indents.push(indent);
    return { level: isList ? indents.length - 1 : 0, text: lineText, marker };
  });
}
