/**
 * Writes the inline Markdown of one line; `markdown-inline-reader.ts` is the inverse. Escapes all Markdown syntax in
 * the text, so that parsing is unambiguous. Marks that Markdown cannot express (underline, bold around a space) become
 * HTML tags.
 */
import type { Mark, Run } from '../export/log-lines.ts';

const DELIMITERS = { strong: '**', em: '*', s: '~~', u: null, code: null } as const satisfies Record<
  Mark,
  string | null
>;
const WORD_AT_BOTH_ENDS = /^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/su;
/** An underscore between letters or digits needs no escape: `snake_case`. */
const LETTER_AT_END = /[\p{L}\p{N}]$/u;
const LETTER_AT_START = /^[\p{L}\p{N}]/u;
const SPACES = { ' ': '&#32;', '\t': '&#9;' } as const;

const encodeSpaces = (blanks: string): string =>
  blanks.replace(/[ \t]/g, (blank) => SPACES[blank as keyof typeof SPACES]);

/** Preserves leading and trailing spaces, and escapes a start that would read as a heading, a quote or a list. */
export function markdownLine(runs: readonly Run[]): string {
  const line = inline(runs, 0);
  const preserved = /^[ \t]|[ \t]$/.test(line) ? line.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, encodeSpaces) : line;
  return preserved.replace(/^([#>+=-])/, '\\$1').replace(/^(\d{1,9})([.)])/, '$1\\$2');
}

function inline(runs: readonly Run[], depth: number): string {
  let text = '';
  for (let from = 0; from < runs.length;) {
    const mark = runs[from]!.marks[depth];
    let to = from + 1;
    if (mark === undefined) text += escapeMarkdown(runs[from]!.text);
    else {
      while (runs[to]?.marks[depth] === mark) to += 1;
      text += markedText(mark, runs.slice(from, to), depth + 1);
    }
    from = to;
  }
  return text;
}

function markedText(mark: Mark, runs: readonly Run[], depth: number): string {
  const words = runs.map((run) => run.text).join('');
  if (mark === 'code' && /^[^`\s](?:[^`]*[^`\s])?$/.test(words) && runs.every((run) => run.marks.length === depth)) {
    return `\`${words}\``;
  }
  const delimiter = DELIMITERS[mark];
  const inner = inline(runs, depth);
  // Adjacent delimiters would be parsed as one run.
  if (delimiter !== null && WORD_AT_BOTH_ENDS.test(words) && !/^[*~]|[*~]$/.test(inner)) {
    return delimiter + inner + delimiter;
  }
  return `<${mark}>${inner}</${mark}>`;
}

const SPECIAL = /[\\`*[~<&_]/;

function escapeMarkdown(text: string): string {
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
