/** Maps the caret from the user's version of a log to the merged log. */
import type { LogMerge } from './merge-logs.ts';

/**
 * `line` counts the text blocks of a log in document order (paragraphs, headings, code blocks). `offset` counts UTF-16
 * units within the block; a `<br>` is one. These are the text blocks of the editor and the offsets inside them.
 */
export type LogPosition = { readonly line: number; readonly offset: number };

export function mapPosition({ mappedLines }: Pick<LogMerge, 'mappedLines'>, position: LogPosition): LogPosition {
  if (!mappedLines) return position;
  const mapped = mappedLines[Math.min(position.line, mappedLines.length - 1)];
  if (!mapped) return { line: 0, offset: 0 };
  return { line: mapped.line, offset: mapOffset(mapped.before, mapped.after, position.offset) };
}

/**
 * If `after` contains `before`, the caret stays at its letter. Otherwise the caret keeps its distance to the start
 * within the common prefix, and to the end within the common suffix. Between the two, it moves to the suffix's start.
 */
function mapOffset(before: string | null, after: string, offset: number): number {
  if (before === null) return after.length;
  const at = Math.min(Math.max(offset, 0), before.length);
  const inside = before === '' ? -1 : after.indexOf(before);
  if (inside !== -1) return inside + at;
  const limit = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < limit && before[prefix] === after[prefix]) prefix += 1;
  if (at <= prefix) return at;
  let suffix = 0;
  while (suffix < limit - prefix && before.at(-1 - suffix) === after.at(-1 - suffix)) suffix += 1;
  if (at >= before.length - suffix) return at + after.length - before.length;
  return after.length - suffix;
}
