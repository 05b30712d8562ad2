/**
 * Writes a line of a log as inline Markdown. Every character that Markdown could interpret is escaped and delimiters are
 * used only around words, so that parsing is unambiguous, also for less exact parsers than CommonMark's. Other marks
 * (underline, bold around a space) become HTML tags.
 */
import type { Mark, Run } from '../export/log-lines.ts';

const DELIMITERS = { strong: '**', em: '*', s: '~~', u: null, code: null } as const satisfies Record<
  Mark,
  string | null
>;
const WORD_AT_BOTH_ENDS = /^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/su;
const CODE = /^[^`\s](?:(?:[^`\s]| (?! ))*[^`\s])?$/;
/** An underscore between letters or digits needs no escape: `snake_case`. */
const LETTER_AT_END = /[\p{L}\p{N}]$/u;
const LETTER_AT_START = /^[\p{L}\p{N}]/u;
const EDGE_BLANKS = /^\s+|(?<!\s)\s+$/g;

/** Preserves all blanks, and escapes a start that would read as a heading, a quote, a list or a row of a table. */
export const markdownLine = (runs: readonly Run[]): string =>
  inline(runs, 0)
    .replace(EDGE_BLANKS, encodeBlanks)
    .replace(/^([#>+=:|-])/, '\\$1')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2');

function inline(runs: readonly Run[], depth: number): string {
  const parts: string[] = [];
  for (let from = 0; from < runs.length;) {
    const mark = runs[from]!.marks[depth];
    let to = from + 1;
    if (mark === undefined) parts.push(escapeMarkdown(runs[from]!.text));
    else {
      while (runs[to]?.marks[depth] === mark) to += 1;
      parts.push(markedText(mark, runs.slice(from, to), depth, parts.at(-1)?.at(-1)));
    }
    from = to;
  }
  return parts.join('');
}

/** `before`: the character in front of the text. */
function markedText(mark: Mark, runs: readonly Run[], depth: number, before = ' '): string {
  const words = runs.map((run) => run.text).join('');
  if (mark === 'code' && CODE.test(words) && runs.every((run) => run.marks.length === depth + 1)) return `\`${words}\``;
  const delimiter = DELIMITERS[mark];
  const inner = inline(runs, depth + 1);
  // Adjacent delimiters would be parsed as one run.
  if (delimiter !== null && WORD_AT_BOTH_ENDS.test(inner) && !'*_~'.includes(before))
    return delimiter + inner + delimiter;
  return `<${mark}>${inner.replace(EDGE_BLANKS, encodeBlanks)}</${mark}>`;
}

const encodeBlanks = (blanks: string): string => Array.from(blanks, (blank) => `&#${blank.codePointAt(0)};`).join('');

/** Other programs make one space of several blanks. */
const BLANKS = /(?<= ) +|\t+/g;
const SPECIAL = /[\\`*[~<&_$\t]|  | (?:---|===)/;

function escapeMarkdown(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/[\\`*[~]|\$(?=\$)|(?<= )(?:-{3,}|={3,})(?= |$)/g, '\\$&')
    .replace(/<(?=\S)/g, '\\<')
    .replace(/&(?=#|[a-z])/gi, '\\&')
    .replace(BLANKS, encodeBlanks)
    .replace(/_/g, (sign, at: number, whole: string) =>
      LETTER_AT_END.test(whole.slice(Math.max(0, at - 2), at)) && LETTER_AT_START.test(whole.slice(at + 1, at + 3))
        ? sign
        : '\\_',
    );
}
