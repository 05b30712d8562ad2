/**
 * Parses inline Markdown of one line with CommonMark's delimiter rules: the `*` in `2 * 3` and the `_` in `snake_case`
 * are plain text. Logs contain no link elements, so a link becomes `text (address)`. Linear in the length of the line:
 * each closed link copies its label, and a label lies in at most one link and one image.
 */
import { linkAsText } from '#domain/log/links.ts';
import { escapeHtml } from '../escape-html.ts';
import type { Mark } from '../log-lines.ts';

type Delimiter = {
  kind: 'delimiter';
  sign: string;
  /** Number of characters that are not paired yet. Those that stay unpaired are text. */
  count: number;
  canOpen: boolean;
  canClose: boolean;
  closes: Mark[];
  /** In the order of pairing: the innermost first. */
  opens: Mark[];
};
type Part =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'tag'; mark: Mark; on: boolean }
  | Delimiter;

const TOKENS =
  /\\([!-/:-@[-`{-~])|(\\)$|(`+)|(\*+|_+|~+)|(!?\[)|(\])|<(\/?)(strong|em|u|s|code)>|<(https?:[^\s<>]*|mailto:[^\s<>]*)>|&(#32|#9|amp|lt|gt|quot|nbsp);|[^\\`*_~!<&[\]]+|[^]/giu;
/** `(?!\s)` keeps a run of spaces from being divided in every way before the match fails. */
const DESTINATION =
  /\(\s*(?!\s)(?:<([^<>\n]*)>|([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/y;
const REFERENCES: Readonly<Record<string, string>> = {
  '#32': ' ',
  '#9': '\t',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00A0',
};

/** `breaks`: the line ends with a hard line break. */
export function readInline(text: string): { html: string; breaks: boolean } {
  const parts: Part[] = [];
  const brackets = new Brackets();
  const codeEnds = new CodeEnds(text);
  let breaks = false;
  const add = (literalText: string): void => void parts.push({ kind: 'text', text: literalText });
  TOKENS.lastIndex = 0;
  for (let match = TOKENS.exec(text); match; match = TOKENS.exec(text)) {
    const [token, literal, hardBreak, ticks, run, bracket, end, slash, tag, address, reference] = match;
    if (literal !== undefined) add(literal);
    else if (hardBreak !== undefined) breaks = true;
    else if (ticks !== undefined) {
      const from = TOKENS.lastIndex;
      const to = codeEnds.find(ticks.length, from);
      if (to === -1) add(ticks);
      else {
        parts.push({ kind: 'code', text: text.slice(from, to) });
        TOKENS.lastIndex = to + ticks.length;
      }
    } else if (run !== undefined) parts.push(delimiter(text, run, match.index));
    else if (bracket !== undefined) {
      brackets.open(bracket, parts.length);
      add(bracket);
    } else if (end !== undefined) {
      const opened = brackets.close();
      DESTINATION.lastIndex = TOKENS.lastIndex;
      const target = opened && DESTINATION.exec(text);
      if (opened === null || target === null) add(end);
      else {
        brackets.deactivate(opened.sign);
        closeLink(parts, opened.part, target[1] ?? target[2]!);
        TOKENS.lastIndex += target[0].length;
      }
    } else if (tag !== undefined) parts.push({ kind: 'tag', mark: tag.toLowerCase() as Mark, on: slash === '' });
    else if (address !== undefined) add(address.replace(/^mailto:/i, ''));
    else add(reference === undefined ? token : (REFERENCES[reference.toLowerCase()] ?? token));
  }
  pairDelimiters(parts);
  return { html: htmlOf(parts), breaks };
}

type Bracket = { sign: string; part: number };

/**
 * The unclosed `[` and `![` of a line. CommonMark allows no link in a link, so each link makes the `[` before it plain
 * text. In the same way each image makes the `![` before it plain text, where CommonMark would nest them.
 */
class Brackets {
  readonly #unclosed: Bracket[] = [];
  /** Below this depth the brackets of a sign are plain text. */
  readonly #inactiveDepths: Record<string, number> = { '[': 0, '![': 0 };

  /** `part`: the bracket's index in the parts of `readInline`. */
  open(sign: string, part: number): void {
    this.#unclosed.push({ sign, part });
  }

  /** Removes the last unclosed bracket. Null for a bracket of plain text, or without a bracket. */
  close(): Bracket | null {
    const last = this.#unclosed.pop();
    const depth = this.#unclosed.length;
    const isActive = last !== undefined && depth >= this.#inactiveDepths[last.sign]!;
    for (const [sign, inactiveDepth] of Object.entries(this.#inactiveDepths))
      this.#inactiveDepths[sign] = Math.min(inactiveDepth, depth);
    return isActive ? last : null;
  }

  deactivate(sign: string): void {
    this.#inactiveDepths[sign] = this.#unclosed.length;
  }
}

/** Finds the run of backticks that ends a code span: the next one of the same length. */
class CodeEnds {
  readonly #text: string;
  /** Maps each length to the positions of the runs of that length, the last one first. Built at the first use. */
  #starts: Map<number, number[]> | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns the position of the next run of `length` backticks at or after `from`, or -1. `from` must not decrease from
   * call to call.
   */
  find(length: number, from: number): number {
    const starts = (this.#starts ??= this.#readRuns()).get(length) ?? [];
    while (starts.length > 0 && starts.at(-1)! < from) starts.pop();
    return starts.at(-1) ?? -1;
  }

  #readRuns(): Map<number, number[]> {
    const starts = new Map<number, number[]>();
    for (const { 0: run, index } of [...this.#text.matchAll(/`+/g)].toReversed()) {
      const ofLength = starts.get(run.length) ?? [];
      ofLength.push(index);
      starts.set(run.length, ofLength);
    }
    return starts;
  }
}

const SPACE = /^$|\s/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** A tag or a backtick between a delimiter and its word: our export writes `~~<u>word</u>~~`. */
const MARK_AT_END = /(?:`|<\/?(?:strong|em|u|s|code)>)$/i;
const MARK_AT_START = /^(?:`|<\/?(?:strong|em|u|s|code)>)/i;
const MARK_MAX_LENGTH = '</strong>'.length;

/** Applies CommonMark's left-flanking and right-flanking rules. */
function delimiter(text: string, run: string, at: number): Delimiter {
  const textBefore = text.slice(Math.max(0, at - MARK_MAX_LENGTH), at);
  const textAfter = text.slice(at + run.length, at + run.length + MARK_MAX_LENGTH);
  const before = Array.from(textBefore).at(-1) ?? '';
  const [after = ''] = textAfter;
  const isPunctuationBefore = PUNCTUATION.test(before) && !MARK_AT_END.test(textBefore);
  const isPunctuationAfter = PUNCTUATION.test(after) && !MARK_AT_START.test(textAfter);
  const isLeftFlanking = !SPACE.test(after) && (!isPunctuationAfter || SPACE.test(before) || isPunctuationBefore);
  const isRightFlanking = !SPACE.test(before) && (!isPunctuationBefore || SPACE.test(after) || isPunctuationAfter);
  const sign = run[0]!;
  const isStrike = run === '~~';
  return {
    kind: 'delimiter',
    sign,
    count: run.length,
    canOpen:
      sign === '~'
        ? isStrike && isLeftFlanking
        : isLeftFlanking && (sign === '*' || !isRightFlanking || isPunctuationBefore),
    canClose:
      sign === '~'
        ? isStrike && isRightFlanking
        : isRightFlanking && (sign === '*' || !isLeftFlanking || isPunctuationAfter),
    closes: [],
    opens: [],
  };
}

/** Pairs each closing delimiter with the nearest opening one. */
function pairDelimiters(parts: readonly Part[]): void {
  const openers: Delimiter[] = [];
  /** CommonMark's `openers_bottom`: below this index no opener has this sign, so that each opener is visited once. */
  const bottoms: Record<string, number> = { '*': 0, _: 0, '~': 0 };
  for (const part of parts) {
    if (part.kind !== 'delimiter') continue;
    while (part.canClose && part.count > 0) {
      let at = openers.length - 1;
      const bottom = Math.min(bottoms[part.sign]!, openers.length);
      while (at >= bottom && openers[at]!.sign !== part.sign) at -= 1;
      if (at < bottom) {
        bottoms[part.sign] = openers.length;
        break;
      }
      const opener = openers[at]!;
      openers.length = at + 1;
      const width = part.sign === '~' || (part.count >= 2 && opener.count >= 2) ? 2 : 1;
      const mark: Mark = part.sign === '~' ? 's' : width === 2 ? 'strong' : 'em';
      opener.opens.push(mark);
      part.closes.push(mark);
      opener.count -= width;
      part.count -= width;
      if (opener.count === 0) openers.pop();
      for (const sign of Object.keys(bottoms)) bottoms[sign] = Math.min(bottoms[sign]!, openers.length);
    }
    if (part.canOpen && part.count > 0) openers.push(part);
  }
}

/** Replaces `[label](address)` by text. `from` is the index of the part `[`, `href` is the address. */
function closeLink(parts: Part[], from: number, href: string): void {
  const inside = parts.slice(from + 1);
  const label = inside.map((part) => (part.kind === 'text' || part.kind === 'code' ? part.text : '')).join('');
  const { suffix, replacement } = linkAsText(label, href);
  parts[from] = { kind: 'text', text: '' };
  if (replacement !== null) parts.splice(from, parts.length, { kind: 'text', text: replacement });
  else if (suffix !== null) parts.push({ kind: 'text', text: suffix });
}

function htmlOf(parts: readonly Part[]): string {
  const html = new MarkedHtml();
  for (const part of parts) {
    if (part.kind === 'text') html.text(part.text);
    else if (part.kind === 'tag') html.setMark(part.mark, part.on);
    else if (part.kind === 'code') {
      html.setMark('code', true);
      html.text(part.text);
      html.setMark('code', false);
    } else {
      for (const mark of part.closes) html.setMark(mark, false);
      html.text(part.sign.repeat(part.count));
      for (const mark of part.opens.toReversed()) html.setMark(mark, true);
    }
  }
  return html.end();
}

/** Writes overlapping marks as properly nested elements. */
class MarkedHtml {
  private html = '';
  private readonly active: Mark[] = [];
  private readonly openTags: Mark[] = [];

  setMark(mark: Mark, on: boolean): void {
    const at = this.active.indexOf(mark);
    if (on && at === -1) this.active.push(mark);
    if (!on && at !== -1) this.active.splice(at, 1);
  }

  text(text: string): void {
    if (text === '') return;
    this.syncTags();
    this.html += escapeHtml(text);
  }

  end(): string {
    this.active.length = 0;
    this.syncTags();
    return this.html;
  }

  private syncTags(): void {
    let same = 0;
    while (same < this.openTags.length && this.openTags[same] === this.active[same]) same += 1;
    while (this.openTags.length > same) this.html += `</${this.openTags.pop()!}>`;
    for (const mark of this.active.slice(same)) {
      this.html += `<${mark}>`;
      this.openTags.push(mark);
    }
  }
}
