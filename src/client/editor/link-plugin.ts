/**
 * Shows URLs and email addresses in a log as links. The links are decorations and are not stored. After a change, only
 * the blocks of the changed range are scanned again. Users open a link by Ctrl or Cmd+click, by Alt+Enter at the caret,
 * or by a button on touch screens.
 */
import type { Node } from '@tiptap/pm/model';
import { Plugin, PluginKey, type EditorState, type Transaction, type PluginView } from '@tiptap/pm/state';
import { Decoration, DecorationSet, type EditorView } from '@tiptap/pm/view';
import { findLinks, LINK_REL, type TextLink } from '#domain/log/links.ts';
import { isApple } from '#client/lib/keys.ts';
import { isEditorKey, showEditorKey } from './editor-keys.ts';
import { DAY_BAR_PX } from './follow-caret.ts';
import styles from './log-text.module.css';

type Range = { from: number; to: number };
type LinkState = {
  decorations: DecorationSet;
  /** Text that changed during an IME composition and must be scanned afterwards. */
  unscanned: Range | null;
};

const KEY = new PluginKey<LinkState>('links');
const AFTER_COMPOSING_MS = 50;

const HINT = `${isApple ? '⌘' : 'Ctrl'}+click or ${showEditorKey('openLink')} opens the link`;

/** Threat: the opened page navigates the journal through `opener` or reads its URL from the referrer. */
const openLink = (href: string): void => void window.open(href, '_blank', 'noopener,noreferrer');

function decoration({ from, to, href }: TextLink): Decoration {
  const attributes = { nodeName: 'a', href, rel: LINK_REL, target: '_blank', draggable: 'false', title: HINT };
  return Decoration.inline(from, to, attributes, { href });
}

/** The links of a text block, in document positions. A line break ends an address. */
function linksIn(block: Node, start: number): TextLink[] {
  const text = block.textBetween(0, block.content.size, undefined, '\n');
  return findLinks(text).map(({ from, to, href }) => ({ from: start + from, to: start + to, href }));
}

function scanBlocks(decorations: DecorationSet, doc: Node, { from, to }: Range): DecorationSet {
  const removed: Decoration[] = [];
  const added: Decoration[] = [];
  doc.nodesBetween(Math.max(0, from - 1), Math.min(doc.content.size, to + 1), (block, at) => {
    if (!block.isTextblock) return true;
    const start = at + 1;
    const links = linksIn(block, start);
    const before = decorations.find(start, start + block.content.size);
    const isSame =
      before.length === links.length &&
      before.every((old) =>
        links.some((link) => link.from === old.from && link.to === old.to && link.href === old.spec['href']),
      );
    if (isSame) return false;
    removed.push(...before);
    added.push(...links.map(decoration));
    return false;
  });
  return removed.length + added.length === 0 ? decorations : decorations.remove(removed).add(doc, added);
}

/** The range from the first to the last change, including `unscanned`; null if no text changed. */
function changedRange(tr: Transaction, unscanned: Range | null): Range | null {
  let from = unscanned ? tr.mapping.map(unscanned.from, -1) : Infinity;
  let to = unscanned ? tr.mapping.map(unscanned.to) : -1;
  tr.mapping.maps.forEach((map, index) => {
    const later = tr.mapping.slice(index + 1);
    map.forEach((_oldFrom, _oldTo, newFrom, newTo) => {
      from = Math.min(from, later.map(newFrom, -1));
      to = Math.max(to, later.map(newTo));
    });
  });
  return to < 0 ? null : { from, to };
}

/** The href of the link that contains the caret or the selection; null if none does. */
export function linkAt(state: EditorState): string | null {
  const { from, to } = state.selection;
  const link = KEY.getState(state)?.decorations.find(from, to)[0];
  return link && link.from <= from && to <= link.to ? (link.spec['href'] as string) : null;
}

export function linkPlugin(): Plugin<LinkState> {
  let view: EditorView | null = null;
  return new Plugin<LinkState>({
    key: KEY,
    state: {
      init: (_config, { doc }) => ({
        decorations: scanBlocks(DecorationSet.empty, doc, { from: 0, to: doc.content.size }),
        unscanned: null,
      }),
      apply(tr, before) {
        if (!tr.docChanged && (before.unscanned === null || view?.composing)) return before;
        const decorations = before.decorations.map(tr.mapping, tr.doc);
        const changed = changedRange(tr, before.unscanned);
        // The elements around the composed text must not change during an IME composition.
        if (changed === null || view?.composing) return { decorations, unscanned: changed };
        return { decorations: scanBlocks(decorations, tr.doc, changed), unscanned: null };
      },
    },
    props: {
      decorations: (state) => KEY.getState(state)?.decorations,
      handleClick(_view, _position, event) {
        const link = (event.target as Element).closest('a[href]');
        if (!link || !(isApple ? event.metaKey : event.ctrlKey)) return false;
        openLink(link.getAttribute('href')!);
        return true;
      },
      handleKeyDown({ state }, event) {
        const href = isEditorKey(event, 'openLink') ? linkAt(state) : null;
        if (href !== null) openLink(href);
        return href !== null;
      },
      handleDOMEvents: {
        // Some browsers open an editable link on a plain click, in this tab.
        click: (_view, event) => {
          if ((event.target as Element).closest('a[href]')) event.preventDefault();
        },
        compositionend(current) {
          setTimeout(() => {
            if (!current.isDestroyed && KEY.getState(current.state)?.unscanned) current.dispatch(current.state.tr);
          }, AFTER_COMPOSING_MS);
        },
      },
    },
    view(created) {
      view = created;
      return openLinkButton(created);
    },
  });
}

const GAP_PX = 8;

/** The button beside a tapped link on touch screens, which have no modifier keys. */
function openLinkButton(view: EditorView): PluginView {
  const touch = matchMedia('(pointer: coarse)');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = styles['openLink']!;
  button.textContent = 'Open link';
  button.hidden = true;

  let href: string | null = null;
  const hide = (): void => void (button.hidden = true);
  const place = (): void => {
    const caret = view.coordsAtPos(view.state.selection.head);
    const page = (button.offsetParent ?? document.body).getBoundingClientRect();
    const text = view.dom.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = button;
    const left = Math.max(text.left, Math.min(caret.left - width / 2, text.right - width));
    const above = caret.top - height - GAP_PX;
    const top = above < DAY_BAR_PX ? caret.bottom + GAP_PX : above;
    button.style.translate = `${Math.round(left - page.left)}px ${Math.round(top - page.top)}px`;
  };

  // Keeps the focus in the text and the phone's keyboard open.
  button.addEventListener('pointerdown', (event) => event.preventDefault());
  button.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', () => href !== null && openLink(href));
  button.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    view.focus();
    hide();
  });
  button.addEventListener('blur', hide);
  const onBlur = (event: FocusEvent): void => void (event.relatedTarget === button || hide());
  view.dom.addEventListener('blur', onBlur);

  return {
    update(_view, before) {
      const { state } = view;
      if (state.doc === before.doc && state.selection.eq(before.selection)) return;
      // Hidden while the user is typing the address.
      href = touch.matches && state.doc === before.doc && state.selection.empty ? linkAt(state) : null;
      button.hidden = href === null;
      if (href === null) return;
      button.setAttribute('aria-label', `Open link ${href}`);
      // The button follows the editor, which the journal moves out of the early page.
      if (view.dom.nextElementSibling !== button) view.dom.after(button);
      place();
    },
    destroy() {
      view.dom.removeEventListener('blur', onBlur);
      button.remove();
    },
  };
}
