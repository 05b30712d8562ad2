/**
 * The words and marks of one line in Markdown; `markdown-inline-reader.ts` is the way back. Whatever Markdown would read as its own has a backslash before
 * it, so reading never has to guess. A mark that Markdown cannot draw where it stands (underline; bold around a space)
 * is written as the HTML tag that every reader of Markdown knows.
 */
import type { Mark, Run } from './log-lines.ts';

const DELIMITERS = { strong: '**', em: '*', s: '~~', u: null, code: null } as const satisfies Record<
  Mark,
  string | null
>;
const WORD_AT_BOTH_ENDS = /^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/su;
/** Between two letters an underscore is one: `snake_case`. */
const LETTER_AT_END = /[\p{L}\p{N}]$/u;
const LETTER_AT_START = /^[\p{L}\p{N}]/u;
const SPACES = { ' ': '&#32;', '\t': '&#9;' } as const;

const spaces = (blanks: string): string => blanks.replace(/[ \t]/g, (blank) => SPACES[blank as keyof typeof SPACES]);

/** A line that stands by itself: spaces at its ends are kept, and its start is not taken for a list or a heading. */
export function markdownLine(runs: readonly Run[]): string {
  const line = inline(runs, 0);
  const kept = /^[ \t]|[ \t]$/.test(line) ? line.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, spaces) : line;
  return kept.replace(/^([#>+=-])/, '\\$1').replace(/^(\d{1,9})([.)])/, '$1\\$2');
}

function inline(runs: readonly Run[], depth: number): string {
  let text = '';
  for (let from = 0; from < runs.length;) {
    const mark = runs[from]!.marks[depth];
    let to = from + 1;
    if (mark === undefined) text += escaped(runs[from]!.text);
    else {
      while (runs[to]?.marks[depth] === mark) to += 1;
      text += marked(mark, runs.slice(from, to), depth + 1);
    }
    from = to;
  }
  return text;
}

function marked(mark: Mark, runs: readonly Run[], depth: number): string {
  const words = runs.map((run) => run.text).join('');
  if (mark === 'code' && /^[^`\s](?:[^`]*[^`\s])?$/.test(words) && runs.every((run) => run.marks.length === depth)) {
    return `\`${words}\``;
  }
  const delimiter = DELIMITERS[mark];
  const inner = inline(runs, depth);
  // Two delimiters that touch, or one beside a letter's own, would be counted as one.
  if (delimiter !== null && WORD_AT_BOTH_ENDS.test(words) && !/^[*~]|[*~]$/.test(inner)) {
    return delimiter + inner + delimiter;
  }
  return `<${mark}>${inner}</${mark}>`;
}

const SPECIAL = /[\\`*[~<&_]/;

function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/[\\`*[~]/g, '\\$&')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#|[a-z])/gi, '\\&')
    .replace(/_/g, (sign, at: number, whole: string) =>
      LETTER_AT_END.test(whole.slice(Math.max(0, at - 2), at)) && LETTER_AT_START.test(whole.slice(at + 1, at + 3))
        ? sign
        : '\\_',
    );
}
