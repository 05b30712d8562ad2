/** Detects pasted Markdown. Ambiguous text counts as plain text, so that no character of it is lost. */
import { FENCE, HEADING, HEADING_RULE, isCodeLine, isIndentedCode, LIST_ITEM } from './indented-text.ts';

/** The line below the header of a table: `|---|:-:|`, also without the outer pipes. */
const isTableRule = (line: string): boolean =>
  /^[\s|:-]+$/.test(line) &&
  line.includes('|') &&
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .every((cell) => /^:?-+:?$/.test(cell.trim()));
const DEFINITION = /^ {0,3}\[[^[\]\n]+\]:\s+<?(?:https?:\/\/|mailto:)\S+/i;

const NOT_IN_WORD_BEFORE = '(?<![\\p{L}\\p{N}_*~`\\\\/.])';
const NOT_IN_WORD_AFTER = '(?![\\p{L}\\p{N}_*~`/])';
const WORD_START = '(?=[\\p{L}\\p{N}\\p{Extended_Pictographic}"\'“(\\[`_$€£])';
const inline = (pattern: string): RegExp => new RegExp(NOT_IN_WORD_BEFORE + pattern + NOT_IN_WORD_AFTER, 'u');

/** Delimiters must be at word boundaries: `2 * 3 * 4`, `**kwargs`, `src/**\/*.ts` and `5*, 6*` don't match. */
const INLINE_MARKS = [
  inline(`\\*{2,3}${WORD_START}[^*\\n]*[^\\s*/]\\*{2,3}`),
  inline(`\\*${WORD_START}[^*\\n]*[\\p{L}\\p{N}.!?)"'”…]\\*`),
  inline(`~~${WORD_START}[^~\\n]*[^\\s~]~~`),
  inline('`[^`\\n]+`'),
  /\[[^[\]\n]+\]\((?:https?:\/\/|mailto:)[^\s()]/i,
];
const UNDERSCORES = new RegExp(`${NOT_IN_WORD_BEFORE}_(?=[\\p{L}\\p{N}])([^_\\n]+)_${NOT_IN_WORD_AFTER}`, 'u');

/** Quoted mail, whose lines keep their `>`. */
const MAIL_QUOTE = /^>\s?>|^>\S|^(?:From|Sent|To|Subject): |(?:wrote|schrieb|écrit|escribió|scrisse)\b.{0,80}:\s*$/;
/** Excludes program output such as `> vite build`. */
const QUOTED_SENTENCE = /^> ["'“„«*_(—–-]*\p{Lu}/u;

/** A line of the properties (front matter) that many programs write above a text: a key, its values or a comment. */
const PROPERTY = /^(?:[\p{L}\p{N}_][\p{L}\p{N}_ -]*:(?: .*)?|[ \t]+.*|- .*|#.*|)$/u;

/** The number of the line that closes the properties. Null for a text that begins with a rule or anything else. */
export function endOfProperties(source: string): number | null {
  if (!/^---[ \t]*\n(?=\S)/.test(source)) return null;
  const lines = source.split('\n');
  const close = lines.findIndex((line, index) => index > 0 && !PROPERTY.test(line));
  return close > 1 && /^(?:---|\.\.\.)[ \t]*$/.test(lines[close]!) ? close : null;
}

export function looksLikeMarkdown(text: string): boolean {
  if (endOfProperties(text) !== null) return true;
  const lines = text.split(/\r\n?|\n/);
  const outside: string[] = [];
  let fence: string | null = null;
  let fences = 0;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === null && mark !== undefined) fence = mark;
    else if (fence !== null && line.trim().startsWith(fence)) {
      fence = null;
      fences += 1;
    } else if (fence === null) outside.push(line);
  }
  if (fence !== null) return false;
  if (fences > 0) return true;
  if (isIndentedCode(outside)) return false;

  const nonBlank = outside.filter((line) => line.trim() !== '');
  const code = nonBlank.filter(isCodeLine);
  if (code.length > 0 && code.length * 4 >= nonBlank.length) return false;
  const isCode = new Set(code);
  return (
    hasTable(outside) ||
    hasHeading(outside) ||
    hasQuote(outside) ||
    // A link that names a definition below: `[the report][1]`.
    (outside.some((line) => DEFINITION.test(line)) && text.includes('][')) ||
    nonBlank.some((line) => !isCode.has(line) && hasInlineMark(line))
  );
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';

/** Distinguishes a heading from a shell comment, which directly precedes its command. */
const hasHeading = (lines: readonly string[]): boolean =>
  lines.some((line, index) => {
    if (HEADING_RULE.test(line)) return !isBlank(lines[index - 1]) && isBlank(lines[index - 2]);
    const level = HEADING.exec(line)?.[1]?.length;
    if (level === undefined || !isBlank(lines[index - 1])) return false;
    const next = lines[index + 1];
    return level > 1 || isBlank(next) || LIST_ITEM.test(next!) || HEADING.test(next!);
  });

const hasTable = (lines: readonly string[]): boolean =>
  lines.some((line, index) => isTableRule(line) && (lines[index - 1] ?? '').includes('|'));

/** Quotes alone count only if they form separate blocks of sentences: mails and program output use `>` too. */
function hasQuote(lines: readonly string[]): boolean {
  const quoted = lines.filter((line) => line.startsWith('>'));
  if (quoted.length === 0 || lines.some((line) => MAIL_QUOTE.test(line))) return false;
  return lines.every((line, index) => {
    if (!line.startsWith('>')) return isBlank(line) || !lines[index + 1]?.startsWith('>');
    const follows = lines[index - 1]?.startsWith('>') ?? false;
    const ends = isBlank(lines[index + 1]) || lines[index + 1]!.startsWith('>');
    return ends && (follows || QUOTED_SENTENCE.test(line));
  });
}

/** An address outside of a link, without the marks at its end. */
const ADDRESS = /(?<![(<\w])(?:https?:\/\/|www\.)[^\s<>()[\]`]*[^\s<>()[\]`*_~]/gi;

function hasInlineMark(source: string): boolean {
  const line = source.replace(ADDRESS, 'address');
  return INLINE_MARKS.some((pattern) => pattern.test(line)) || /\s/.test(UNDERSCORES.exec(line)?.[1] ?? '');
}

const CELL_SEPARATOR = ' · ';

/** Joins the cells of a table row into one line. Empty cells become `–`; trailing ones are dropped. */
export function joinCells(cells: readonly string[]): string {
  const words = cells.map((cell) => cell.trim());
  return words
    .slice(0, words.findLastIndex((word) => word !== '') + 1)
    .map((word) => word || '–')
    .join(CELL_SEPARATOR);
}
