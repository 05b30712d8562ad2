/** Changes of a document's lines. Each returns new lines and leaves the given ones alone. */
import type { DocumentLine, WinLine } from '#domain/documents/wins-document.ts';

type Lines = readonly DocumentLine[];

const indexOf = (lines: Lines, id: string): number => lines.findIndex((line) => line.id === id);

export const changeText = (lines: Lines, id: string, text: string): Lines =>
  lines.map((line) => (line.id === id ? { ...line, text } : line));

/** To the place before the line that is at `to` now; the number of lines is the end. */
export function moveLine(lines: Lines, id: string, to: number): Lines {
  const from = indexOf(lines, id);
  const line = lines[from];
  if (!line) return lines;
  const rest = lines.toSpliced(from, 1);
  return rest.toSpliced(Math.max(0, Math.min(to > from ? to - 1 : to, rest.length)), 0, line);
}

/** One place up (-1) or down (1). */
export function nudgeLine(lines: Lines, id: string, by: -1 | 1): Lines {
  const from = indexOf(lines, id);
  return from === -1 ? lines : moveLine(lines, id, by === 1 ? from + 2 : from - 1);
}

export const removeLine = (lines: Lines, id: string): Lines => lines.filter((line) => line.id !== id);

/** Takes a removal back. A line that is there already stays. */
export const putBack = (lines: Lines, line: DocumentLine, index: number): Lines =>
  indexOf(lines, line.id) === -1 ? lines.toSpliced(Math.min(index, lines.length), 0, line) : lines;

/** Behind the last win of the same or an earlier day; without one, before the first win. */
export function insertByDate(lines: Lines, win: WinLine): Lines {
  const before = lines.findLastIndex((line) => line.kind === 'win' && line.date <= win.date);
  const first = lines.findIndex((line) => line.kind === 'win');
  return lines.toSpliced(before >= 0 ? before + 1 : first >= 0 ? first : lines.length, 0, win);
}

/** Above the line with this id; without it, at the end. */
export function insertHeading(lines: Lines, heading: DocumentLine, above: string | null): Lines {
  const index = above === null ? -1 : indexOf(lines, above);
  return lines.toSpliced(index === -1 ? lines.length : index, 0, heading);
}
