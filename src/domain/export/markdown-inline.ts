/**
 * The words and marks of one line in Markdown, and back. Whatever Markdown would read as its own has a backslash before
 * it, so reading never has to guess. A mark that Markdown cannot draw where it stands (underline; bold around a space)
 * is written as the HTML tag that every reader of Markdown knows.
 */
import { escapeHtml } from './escape-html.ts';
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

const TOKENS =
  /\\([!-/:-@[-`{-~])|(\\)$|(`+)|(\*{1,3})|(~~)|<(\/?)(strong|em|u|s|code)>|&(#32|#9|amp|lt|gt|quot|nbsp);|[^\\`*~<&]+|[^]/g;
const REFERENCES: Readonly<Record<string, string>> = {
  '#32': ' ',
  '#9': '\t',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00A0',
};

/** The HTML of a line, and whether it ends in a hard break. */
export function readInline(text: string): { html: string; breaks: boolean } {
  const html = new MarkedHtml();
  let breaks = false;
  TOKENS.lastIndex = 0;
  for (let match = TOKENS.exec(text); match; match = TOKENS.exec(text)) {
    const [token, literal, hardBreak, ticks, stars, strike, slash, tag, reference] = match;
    if (literal !== undefined) html.text(literal);
    else if (hardBreak !== undefined) breaks = true;
    else if (ticks !== undefined) {
      const from = TOKENS.lastIndex;
      const to = endOfCode(text, ticks, from);
      if (to === -1) html.text(ticks);
      else {
        html.turn('code', true);
        html.text(text.slice(from, to));
        html.turn('code', false);
        TOKENS.lastIndex = to + ticks.length;
      }
    } else if (stars !== undefined) html.stars(stars.length);
    else if (strike !== undefined) html.turn('s', !html.has('s'));
    else if (tag !== undefined) html.turn(tag as Mark, slash === '');
    else html.text(reference === undefined ? token : REFERENCES[reference]!);
  }
  return { html: html.end(), breaks };
}

function endOfCode(text: string, ticks: string, from: number): number {
  let at = text.indexOf(ticks, from);
  while (at !== -1 && text[at + ticks.length] === '`') {
    let next = at;
    while (text[next] === '`') next += 1;
    at = text.indexOf(ticks, next);
  }
  return at;
}

/** Marks as they are turned on and off, written as elements that nest. */
class MarkedHtml {
  private html = '';
  private readonly on: Mark[] = [];
  private readonly written: Mark[] = [];

  has(mark: Mark): boolean {
    return this.on.includes(mark);
  }

  turn(mark: Mark, on: boolean): void {
    const at = this.on.indexOf(mark);
    if (on && at === -1) this.on.push(mark);
    if (!on && at !== -1) this.on.splice(at, 1);
  }

  /** A run of asterisks closes what was opened last before it opens anything. */
  stars(count: number): void {
    let left = count;
    while (left > 0) {
      const mark: Mark = left >= 2 && !(this.on.at(-1) === 'em' && left === 3) ? 'strong' : 'em';
      this.turn(mark, !this.has(mark));
      left -= mark === 'strong' ? 2 : 1;
    }
  }

  text(text: string): void {
    this.settle();
    this.html += escapeHtml(text);
  }

  end(): string {
    this.on.length = 0;
    this.settle();
    return this.html;
  }

  private settle(): void {
    let same = 0;
    while (same < this.written.length && this.written[same] === this.on[same]) same += 1;
    while (this.written.length > same) this.html += `</${this.written.pop()!}>`;
    for (const mark of this.on.slice(same)) {
      this.html += `<${mark}>`;
      this.written.push(mark);
    }
  }
}
