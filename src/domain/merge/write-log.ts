/** Writes lines with their containers as canonical HTML that `isCleanLog` accepts. */
import { ENTRY_MAX_DEPTH } from '../log/entry-html.ts';
import type { Container, TextTag } from './read-lines.ts';

/** A list item or a quote to be opened. `key` identifies it for the lines that follow. */
export type Level = {
  readonly tag: Container['tag'];
  readonly key: string;
  /** `start` of a new list; ignored if the item continues a list. */
  readonly start: string | null;
  /** The item begins a new list even directly after a list of the same tag. */
  readonly beginsList: boolean;
};

type Frame = { key: string; tag: Container['tag'] | null; openList: string | null };

export type LogWriter = {
  /** The open containers, the outermost first. */
  readonly open: readonly { key: string; tag: Container['tag'] | null }[];
  /** Closes all but the `depth` outermost containers, opens `levels` inside, and adds the line. */
  add: (depth: number, levels: readonly Level[], tag: TextTag, html: string) => void;
  end: () => string;
};

const elementsOf = (tag: Container['tag'] | null): number => (tag === null ? 0 : tag === 'blockquote' ? 1 : 2);

/** The deepest nesting of marks. */
function markDepth(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [tag] of html.matchAll(/<[^b<>][^<>]*>/g)) {
    depth += tag.startsWith('</') ? -1 : 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

export function createLogWriter(): LogWriter {
  const out: string[] = [];
  const root: Frame = { key: '', tag: null, openList: null };
  const open: Frame[] = [];
  const innermost = (): Frame => open.at(-1) ?? root;

  const closeList = (frame: Frame): void => {
    if (frame.openList !== null) out.push(`</${frame.openList}>`);
    frame.openList = null;
  };
  const closeTo = (depth: number): void => {
    while (open.length > depth) {
      const frame = open.pop()!;
      closeList(frame);
      out.push(frame.tag === 'blockquote' ? '</blockquote>' : '</li>');
    }
  };
  const openLevel = ({ tag, key, start, beginsList }: Level): void => {
    const parent = innermost();
    if (tag === 'blockquote') {
      closeList(parent);
      out.push('<blockquote>');
    } else {
      if (parent.openList !== tag || beginsList) {
        closeList(parent);
        out.push(start === null || tag === 'ul' ? `<${tag}>` : `<${tag} start="${start}">`);
        parent.openList = tag;
      }
      out.push('<li>');
    }
    open.push({ key, tag, openList: null });
  };

  return {
    open,
    add(depth, levels, tag, html) {
      let room = ENTRY_MAX_DEPTH - (tag === 'pre' ? 2 : 1) - markDepth(html);
      const fits = (level: { tag: Container['tag'] | null }): boolean => (room -= elementsOf(level.tag)) >= 0;
      const kept = open.slice(0, depth).findIndex((frame) => !fits(frame));
      closeTo(kept === -1 ? depth : kept);
      // Levels beyond ENTRY_MAX_DEPTH are left out. Bare text becomes a paragraph here, which is one element deeper.
      for (const level of levels) {
        if (!fits(level)) break;
        openLevel(level);
      }
      closeList(innermost());
      out.push(tag === 'pre' ? `<pre><code>${html}</code></pre>` : `<${tag}>${html}</${tag}>`);
    },
    end() {
      closeTo(0);
      closeList(root);
      return out.join('');
    },
  };
}
