/** Splits a log into its text blocks, each with its position in lists and quotes: the unit of the merge. */
import { decodeReferences, forEachToken } from '../log/log-tokens.ts';

type ListTag = 'ol' | 'ul';
export type TextTag = 'p' | 'h1' | 'h2' | 'h3' | 'pre';

/** A list item or a quote. Lines of the same item share the object. */
export type Container = {
  readonly tag: ListTag | 'blockquote';
  /** Null for a quote. Items of the same list share the object. */
  readonly list: List | null;
  /** True for the first item of its list. */
  readonly isFirst: boolean;
  /** The first line inside, which identifies the container in other versions of the log. */
  head: Line | null;
  /** A line may be the head of several nested containers; the innermost has level 0. */
  level: number;
};

type List = {
  readonly tag: ListTag;
  /** The `start` attribute. */
  readonly start: string | null;
  /** The list follows directly on a list of the same tag. */
  readonly isAdjacent: boolean;
};

/** A paragraph, a heading or a code block. */
export type Line = {
  readonly index: number;
  readonly tag: TextTag;
  /** The content of the block, without the `<code>` that wraps a code block. */
  readonly html: string;
  /** The content without tags; `<br>` is a line feed, so that offsets equal those of the editor. */
  readonly text: string;
  /** The containers around the line, the outermost first. */
  readonly path: readonly Container[];
  /** The number of innermost containers that begin with this line. */
  readonly ownCount: number;
};

/** The same line in the base, in mine and in theirs, as far as each has it. The line is merged as a whole. */
export type Unit = {
  readonly id: number;
  readonly base: Line | null;
  mine: Line | null;
  theirs: Line | null;
  /** The position among the other lines differs from the base. */
  readonly isMovedInMine: boolean;
  readonly isMovedInTheirs: boolean;
};

const TEXT_TAGS: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3', 'pre']);
const MARK_TAG = /^\/?(?:strong|em|u|s|code)$/;
const START = /^ol start="(-?\d{1,7})"$/;
const TAGS = /<[^<>]*>/g;
/** Text outside a block that has only white space and empty marks; it makes no line. */
const BLANK_HTML = /^(?:[ \t\r\n]|<\/?(?:strong|em|u|s|code)>)*$/;

export const isBlank = ({ text }: Line): boolean => text.trim() === '';

/** Lines with equal keys have the same words; marks and block tags may differ. */
export const textKey = ({ tag, text }: Line): string => `${tag === 'pre' ? 'pre' : ''}:${text}`;

export const parentOf = ({ path, ownCount }: Line): Container | null => path[path.length - ownCount - 1] ?? null;

const plainText = (html: string): string => {
  const text = html.includes('<') ? html.replaceAll('<br>', '\n').replace(TAGS, '') : html;
  return decodeReferences(text);
};

function withoutCodeTag(html: string): string {
  const isWrapped = html.startsWith('<code>') && html.indexOf('</code>') === html.length - '</code>'.length;
  return isWrapped ? html.slice('<code>'.length, -'</code>'.length) : html;
}

/** An open container; null for the log itself. `listBefore`: the tag of the list that has just ended inside it. */
type Frame = { container: Container | null; listBefore: ListTag | null };

/** `html`: clean (`isCleanLog`), without a date header. Drops white space between tags and containers without a line. */
export function readLines(html: string): Line[] {
  const lines: Line[] = [];
  const frames: Frame[] = [{ container: null, listBefore: null }];
  const lists: { list: List; hasItem: boolean }[] = [];
  let path: readonly Container[] = [];
  let block: TextTag | null = null;
  let inline = '';

  const addLine = (tag: TextTag, content: string): void => {
    const own = path.filter((container) => container.head === null);
    const inner = tag === 'pre' ? withoutCodeTag(content) : content;
    const line: Line = { index: lines.length, tag, html: inner, text: plainText(inner), path, ownCount: own.length };
    own.forEach((container, index) => Object.assign(container, { head: line, level: own.length - 1 - index }));
    lines.push(line);
    frames.at(-1)!.listBefore = null;
  };
  const flush = (): void => {
    if (block !== null) addLine(block, inline);
    else if (!BLANK_HTML.test(inline)) addLine('p', inline);
    block = null;
    inline = '';
  };
  const enter = (container: Container): void => {
    path = [...path, container];
    frames.push({ container, listBefore: null });
  };
  const leave = (): void => {
    if (frames.length === 1) return;
    const { container } = frames.pop()!;
    if (container!.tag === 'blockquote') frames.at(-1)!.listBefore = null;
    path = path.slice(0, -1);
  };

  forEachToken(
    html,
    (tag) => {
      if (tag === 'br' || MARK_TAG.test(tag)) {
        inline += `<${tag}>`;
        return;
      }
      flush();
      const start = START.exec(tag)?.[1];
      if (TEXT_TAGS.has(tag)) block = tag as TextTag;
      else if (tag === 'ul' || tag === 'ol' || start !== undefined) {
        const listTag = tag === 'ul' ? 'ul' : 'ol';
        const isAdjacent = frames.at(-1)!.listBefore === listTag;
        lists.push({ list: { tag: listTag, start: start ?? null, isAdjacent }, hasItem: false });
      } else if (tag === 'li') {
        const open = lists.at(-1) ?? { list: { tag: 'ul', start: null, isAdjacent: false }, hasItem: false };
        enter({ tag: open.list.tag, list: open.list, isFirst: !open.hasItem, head: null, level: 0 });
        open.hasItem = true;
      } else if (tag === 'blockquote') enter({ tag, list: null, isFirst: false, head: null, level: 0 });
      else if (tag === '/ul' || tag === '/ol') {
        const closed = lists.pop();
        if (closed?.hasItem) frames.at(-1)!.listBefore = closed.list.tag;
      } else if (tag === '/li') {
        if (path.at(-1)?.head === null) addLine('p', '');
        leave();
      } else if (tag === '/blockquote') leave();
    },
    (text) => void (inline += text),
  );
  flush();
  return lines;
}
