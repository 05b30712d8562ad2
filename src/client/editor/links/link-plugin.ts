/**
 * Shows the addresses in a log as links. They are decorations: nothing is stored, and only blocks that changed are read
 * again. Opened by Ctrl or Cmd+click, by Alt+Enter at the caret, and on a touch screen by a button beside the caret.
 */
import type { Node } from '@tiptap/pm/model';
import { Plugin, PluginKey } from '@tiptap/pm/state';
import type { EditorState, Transaction } from '@tiptap/pm/state';
import { Decoration, DecorationSet } from '@tiptap/pm/view';
import type { EditorView } from '@tiptap/pm/view';
import { findLinks, LINK_REL } from '#domain/log/links.ts';
import type { TextLink } from '#domain/log/links.ts';
import { openLinkButton } from './open-link-button.ts';

type Range = { from: number; to: number };
type LinkState = {
  shown: DecorationSet;
  /** Changed while an input method was composing; to be read when it is done. */
  unread: Range | null;
};

const KEY = new PluginKey<LinkState>('links');
const AFTER_COMPOSING_MS = 50;

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
const HINT = isApple ? '⌘+click or ⌥+Return opens the link' : 'Ctrl+click or Alt+Enter opens the link';

/** Without an opener: the page behind the link gets no hold of the journal, and does not learn where it was linked. */
const openLink = (href: string): void => void window.open(href, '_blank', 'noopener,noreferrer');

function decoration({ from, to, href }: TextLink): Decoration {
  const attributes = { nodeName: 'a', href, rel: LINK_REL, target: '_blank', draggable: 'false', title: HINT };
  return Decoration.inline(from, to, attributes, { href });
}

/** The links of a text block, in positions of the document. A line break ends an address. */
function linksIn(block: Node, start: number): TextLink[] {
  const text = block.textBetween(0, block.content.size, undefined, '\n');
  return findLinks(text).map(({ from, to, href }) => ({ from: start + from, to: start + to, href }));
}

function readBlocks(shown: DecorationSet, doc: Node, { from, to }: Range): DecorationSet {
  const gone: Decoration[] = [];
  const made: Decoration[] = [];
  doc.nodesBetween(Math.max(0, from - 1), Math.min(doc.content.size, to + 1), (block, at) => {
    if (!block.isTextblock) return true;
    const start = at + 1;
    const links = linksIn(block, start);
    const before = shown.find(start, start + block.content.size);
    const isSame =
      before.length === links.length &&
      before.every((old) =>
        links.some((link) => link.from === old.from && link.to === old.to && link.href === old.spec['href']),
      );
    if (isSame) return false;
    gone.push(...before);
    made.push(...links.map(decoration));
    return false;
  });
  return gone.length + made.length === 0 ? shown : shown.remove(gone).add(doc, made);
}

/** From the first to the last change of a transaction; null if no text changed. */
function changedRange(tr: Transaction, unread: Range | null): Range | null {
  let from = unread ? tr.mapping.map(unread.from, -1) : Infinity;
  let to = unread ? tr.mapping.map(unread.to) : -1;
  tr.mapping.maps.forEach((map, index) => {
    const later = tr.mapping.slice(index + 1);
    map.forEach((_oldFrom, _oldTo, newFrom, newTo) => {
      from = Math.min(from, later.map(newFrom, -1));
      to = Math.max(to, later.map(newTo));
    });
  });
  return to < 0 ? null : { from, to };
}

/** The address that the caret is in or beside; null for a selection of more than that. */
export function linkAt(state: EditorState): string | null {
  const { from, to } = state.selection;
  const link = KEY.getState(state)?.shown.find(from, to)[0];
  return link && link.from <= from && to <= link.to ? (link.spec['href'] as string) : null;
}

export function linkPlugin(): Plugin<LinkState> {
  let view: EditorView | null = null;
  return new Plugin<LinkState>({
    key: KEY,
    state: {
      init: (_config, { doc }) => ({
        shown: readBlocks(DecorationSet.empty, doc, { from: 0, to: doc.content.size }),
        unread: null,
      }),
      apply(tr, before) {
        if (!tr.docChanged && (before.unread === null || view?.composing)) return before;
        const shown = before.shown.map(tr.mapping, tr.doc);
        const changed = changedRange(tr, before.unread);
        // Elements around the composed letters must not change while an input method holds them.
        if (changed === null || view?.composing) return { shown, unread: changed };
        return { shown: readBlocks(shown, tr.doc, changed), unread: null };
      },
    },
    props: {
      decorations: (state) => KEY.getState(state)?.shown,
      handleClick(_view, _position, event) {
        const link = (event.target as Element).closest('a[href]');
        if (!link || !(isApple ? event.metaKey : event.ctrlKey)) return false;
        openLink(link.getAttribute('href')!);
        return true;
      },
      handleKeyDown({ state }, event) {
        const href = event.key === 'Enter' && event.altKey && !event.ctrlKey && !event.metaKey ? linkAt(state) : null;
        if (href !== null) openLink(href);
        return href !== null;
      },
      handleDOMEvents: {
        // Some browsers follow a link that can be edited by themselves, in this tab.
        click: (_view, event) => {
          if ((event.target as Element).closest('a[href]')) event.preventDefault();
        },
        compositionend(composed) {
          setTimeout(() => {
            if (!composed.isDestroyed && KEY.getState(composed.state)?.unread) composed.dispatch(composed.state.tr);
          }, AFTER_COMPOSING_MS);
        },
      },
    },
    view(created) {
      view = created;
      return openLinkButton(created, linkAt, openLink);
    },
  });
}
