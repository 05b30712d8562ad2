/** Pasted plain text as lines of a list: what a terminal, a chat or a note hands over when it copies several lines. */

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
const CHECKBOX = /^(?:\[[ xX]?\]|[☐☑☒✓✔])\s+(?=\S)/;

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

/** The lines of a text that say something, without their markers, nested as their indentation says. */
export function parsePastedText(text: string): PastedLine[] {
  const lines = text
    .split(/\r\n?|\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => ({ ...withoutMarker(line), indent: indentOf(line) }));
  // Indented lines without any marker are code or prose: one item each, as flat as they came.
  const isList = lines.some((line) => line.marker !== null);
  const indents: number[] = [];
  return lines.map(({ text: words, marker, indent }) => {
    while (indents.length > 0 && indent < indents.at(-1)!) indents.pop();
    if (indents.length === 0 || indent > indents.at(-1)!) indents.push(indent);
    return { level: isList ? indents.length - 1 : 0, text: words, marker };
  });
}
