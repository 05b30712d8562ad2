/**
 * What the coach wrote, as paragraphs and lists.
 *
 * Threat: a log can tell the model what to write. So there is no way from its text to markup: what comes out is this
 * closed set of shapes, without a link, an image, an attribute or raw HTML. Everything else stays the text that it is.
 */
import { MAX_CITATION } from './citations.ts';
import { withDateLabels } from '../day/day.ts';

export type CoachSpan =
  | { kind: 'text'; text: string }
  /** A citation of a line of the log (citations.ts); `text` is how it was written: `3.2` or `[3.2]`. */
  | { kind: 'citation'; ref: string; text: string }
  | { kind: 'strong' | 'em'; spans: CoachSpan[] };

export type CoachBlock = { kind: 'paragraph'; spans: CoachSpan[] } | { kind: 'list' | 'numbers'; items: CoachSpan[][] };

/** One within another is shown as one beside it. */
const BULLET = /^\s{0,12}[-*•]\s+(?=\S)/;
const NUMBER = /^\s{0,3}(\d{1,3})[.)]\s+(?=\S)/;
const HEADING = /^\s{0,3}#{1,6}\s+(.*)$/;
const QUOTE = /^\s{0,3}(?:>\s{0,3})*>(?=\s|$)/;
/** ```` ``` ```` with the name of a language; and lines that are drawn: `---`, `===`; and `|---|---|`, between the rows of a table. */
const FENCE = /^\s{0,3}(?:`{3,}|~{3,})[\w+#.-]{0,30}\s*$/;
const DRAWN = /^\s{0,3}(?:[-=*_]\s{0,3}){3,}$/;
const BETWEEN_ROWS = /^\s{0,3}\|[\s|:-]*$/;
const ROW = /^\s{0,3}\|/;
/** `[words](address "title")`, or with `!` before it an image. An address has one of these signs, a remark has not. */
const LINK =
  /!?\[([^[\]]{1,200})\]\((?=[^()\s]{0,500}[:/.#])(?:[^()\s]|\([^()\s]{0,100}\)){1,500}(?:\s{1,3}"[^"]{0,200}")?\)/g;
/** One that is not at its end yet. */
const HALF_LINK =
  /!?\[[^[\]]{0,200}(?:\](?:\((?:[^()\s]|\([^()\s]{0,100}\)){0,500}(?:\([^()\s]{0,100}|\s{1,3}(?:"[^"]{0,200}"?)?)?)?)?$/;

const NO_REFS: ReadonlySet<string> = new Set();

/**
 * `writing`: more is to come, so that an emphasis that was begun holds until the end of its line, and a sign that may
 * become one is not shown yet. What is on the screen then never changes its look when the rest arrives.
 * `refs`: the lines that can be cited; everything else in brackets is text.
 */
export function coachBlocks(text: string, { writing = false, refs = NO_REFS } = {}): CoachBlock[] {
  const spansOf = (words: string, unfinished: boolean) => spansIn(words, unfinished, refs);
  const blocks: CoachBlock[] = [];
  let lines: string[] = [];
  const endParagraph = (last: boolean): void => {
    if (lines.length > 0) blocks.push({ kind: 'paragraph', spans: spansOf(lines.join('\n'), writing && last) });
    lines = [];
  };
  const all = text.replace(/\r\n?/g, '\n').split('\n');
  for (const [index, written] of all.entries()) {
    const last = index === all.length - 1;
    if (BETWEEN_ROWS.test(written)) continue;
    const line = withoutSigns(written, writing && last);
    const before = blocks.at(-1);
    const listed = lines.length === 0 ? before : undefined;
    const number = NUMBER.exec(line);
    const heading = HEADING.exec(line);
    if (BULLET.test(line)) {
      const spans = spansOf(line.replace(BULLET, ''), writing && last);
      if (listed?.kind === 'list') listed.items.push(spans);
      else {
        endParagraph(false);
        blocks.push({ kind: 'list', items: [spans] });
      }
    } else if (number && Number(number[1]) === (listed?.kind === 'numbers' ? listed.items.length + 1 : 1)) {
      // A list that does not count from 1 would need a number of its own: it stays text, with the numbers it has.
      const spans = spansOf(line.slice(number[0].length), writing && last);
      if (listed?.kind === 'numbers') listed.items.push(spans);
      else {
        endParagraph(false);
        blocks.push({ kind: 'numbers', items: [spans] });
      }
    } else if (heading) {
      endParagraph(false);
      blocks.push({
        kind: 'paragraph',
        spans: [{ kind: 'strong', spans: spansOf(withoutClosing(heading[1]!), writing && last) }],
      });
    } else if (line.trim() === '') endParagraph(false);
    else lines.push(line.trim());
  }
  endParagraph(true);
  return blocks;
}

/**
 * What is neither emphasis nor a list is shown as its words: quotes, code, tables, and links, of which nothing may lead
 * anywhere. A line of signs alone divides what is above it from what is below.
 */
function withoutSigns(written: string, writing: boolean): string {
  let line = written.replace(QUOTE, '');
  if (FENCE.test(line) || DRAWN.test(line)) return '';
  if (writing) line = line.replace(HALF_LINK, '');
  line = line.replace(LINK, wordsOfLink).replaceAll('`', '').replaceAll('~~', '');
  if (!ROW.test(line)) return line;
  const cells = line.split('|').map((cell) => cell.trim());
  return cells.filter((cell) => cell !== '').join(' · ');
}

/** Numbers alone are citations. */
const wordsOfLink = (_link: string, words: string): string => (/^[\d\s,.]+$/.test(words) ? `[${words}]` : words);

/** `## Wins ##` says Wins. */
const withoutClosing = (heading: string): string =>
  heading
    .trimEnd()
    .replace(/(?<!#)#+$/, '')
    .trimEnd();

/** The next piece may make it an emphasis, a citation or a date. */
const UNFINISHED = /[*_]{1,3}$|\[[\d\s,.]*$|(?<![\w-])\d{4}(?:-\d{0,2}){0,2}$/;
const MARK = /\*\*|[*_]/;
/** Emphasis within emphasis, so deep; deeper signs stay what they are. */
const DEEPEST = 4;

/** `unclosed`: signs that are known not to close any more in what is left, so that nobody looks for them twice. */
function spansIn(
  text: string,
  writing: boolean,
  refs: ReadonlySet<string>,
  depth = 0,
  unclosed = new Set<string>(),
): CoachSpan[] {
  if (depth > DEEPEST) return withCitations(text, refs);
  const spans: CoachSpan[] = [];
  let rest = writing ? text.replace(UNFINISHED, '') : text;
  let plain = '';
  const endPlain = (): void => {
    if (plain !== '') spans.push(...withCitations(plain, refs));
    plain = '';
  };
  while (rest !== '') {
    const mark = MARK.exec(rest);
    if (!mark) {
      plain += rest;
      break;
    }
    const [sign] = mark;
    const before = rest.slice(0, mark.index);
    plain += before;
    const inside = rest.slice(mark.index + sign.length);
    const opened = opens(before, inside);
    const end = opened && !unclosed.has(sign) ? closing(inside, sign) : -1;
    if (opened && end < 0) unclosed.add(sign);
    const held = end >= 0 ? inside.slice(0, end) : writing && opened ? inside : null;
    if (held === null) {
      plain += sign;
      rest = inside;
      continue;
    }
    endPlain();
    const inner = end < 0 ? spansIn(held, writing, refs, depth + 1, unclosed) : spansIn(held, false, refs, depth + 1);
    spans.push({ kind: sign === '**' ? 'strong' : 'em', spans: inner });
    rest = end >= 0 ? inside.slice(end + sign.length) : '';
  }
  endPlain();
  return spans;
}

/** As in `**word**`, not as in `2 * 3` or `snake_case`. */
const opens = (before: string, inside: string): boolean =>
  /^[^\s*_]/.test(inside) && !/[\p{L}\p{N}]$/u.test(before.slice(-2));

function closing(inside: string, sign: string): number {
  for (let at = inside.indexOf(sign); at >= 0; at = inside.indexOf(sign, at + 1)) {
    const alone = sign !== '*' || (inside[at + 1] !== '*' && inside[at - 1] !== '*');
    if (alone && /\S/.test(inside[at - 1] ?? ' ') && !/[\p{L}\p{N}]/u.test(inside[at + sign.length] ?? ' ')) return at;
  }
  return -1;
}

const CITED_NUMBER = String.raw`#?\d{1,7}(?:\.\d{1,7}){0,40}`;
/** `[3.2]` and `[1, 3]`, as the coach is asked to write; or `item 3`, `items 2, 4 and 5`, where the word says it. */
const CITATIONS = new RegExp(
  String.raw`\[[^\[\]\n]{1,${MAX_CITATION}}\]|\bitems?\s{1,3}${CITED_NUMBER}` +
    String.raw`(?:\s{0,3}(?:,\s{0,3}(?:and\s|or\s)?|and|or|to|through|&|[-–])\s{0,3}${CITED_NUMBER}(?!\s{0,3}%))*`,
  'gi',
);

function withCitations(text: string, refs: ReadonlySet<string>): CoachSpan[] {
  const spans: CoachSpan[] = [];
  let at = 0;
  const addText = (to: number): void => {
    if (to > at) spans.push({ kind: 'text', text: withDateLabels(text.slice(at, to)) });
    at = Math.max(at, to);
  };
  for (const { 0: words, index } of refs.size === 0 ? [] : text.matchAll(CITATIONS)) {
    if (words.startsWith('[')) {
      const parts = words.slice(1, -1).split(/,\s*/);
      if (!parts.some((part) => refs.has(part))) continue;
      addText(index);
      at = index + words.length;
      for (const [place, part] of parts.entries()) {
        if (place > 0) spans.push({ kind: 'text', text: ', ' });
        const written = `[${part}]`;
        spans.push(refs.has(part) ? { kind: 'citation', ref: part, text: written } : { kind: 'text', text: written });
      }
      continue;
    }
    for (const { 0: ref, index: within } of words.matchAll(/\d+(?:\.\d+)*/g)) {
      if (!refs.has(ref)) continue;
      addText(index + within);
      spans.push({ kind: 'citation', ref, text: ref });
      at += ref.length;
    }
  }
  addText(text.length);
  return spans;
}
