/**
 * Keeps the caret's line visible: clear of the day bar, the formatting bar and an on-screen keyboard. ProseMirror asks for
 * it after typing and caret keys. The page also follows when the visible area changes (keyboard, rotation) and when the
 * caret moves without a key (a keyboard's own cursor control), but never against the user's own scrolling.
 */
import { Extension } from '@tiptap/core';
import type { Storage } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { scrollForCaret } from './scroll-for-caret.ts';
import type { Span } from './scroll-for-caret.ts';

declare module '@tiptap/core' {
  interface Storage {
    followCaret: {
      /** The height of the formatting bar at the foot of a touch screen; 0 without it. */
      footPx: number;
      isPointerDown: boolean;
    };
  }
}

/** The height of the journal's sticky day bar. */
export const DAY_BAR_PX = 68;

/** A document that is not shown has no visual viewport. */
const visibleArea = (): Pick<VisualViewport, 'offsetTop' | 'height' | 'scale'> =>
  window.visualViewport ?? { offsetTop: 0, height: innerHeight, scale: 1 };

/** In the coordinates of `getBoundingClientRect`. */
function visibleSpan(footPx: number): Span {
  const { offsetTop, height } = visibleArea();
  return { top: Math.max(offsetTop, DAY_BAR_PX), bottom: offsetTop + height - footPx };
}

const caretLine = (view: EditorView): Span => view.coordsAtPos(view.state.selection.head, 1);

export const followCaret = Extension.create<object, Storage['followCaret']>({
  name: 'followCaret',

  addStorage: () => ({ footPx: 0, isPointerDown: false }),

  onSelectionUpdate({ transaction }) {
    const { footPx, isPointerDown } = this.storage;
    const { docChanged, selection } = transaction;
    // A mouse points at what is visible; a tap may point at what the formatting bar is about to cover.
    if (docChanged || !selection.empty || isPointerDown || (transaction.getMeta('pointer') && footPx === 0)) return;
    if (this.editor.isFocused) follow(this.editor.view, footPx);
  },

  addProseMirrorPlugins() {
    const { storage } = this;
    /** The user scrolled since the last edit or tap. */
    let isScrolledAway = false;
    /** Whether the caret was visible after the last scroll, whoever scrolled. */
    let isCaretVisible = true;
    let width = innerWidth;

    const onPointer = ({ type }: Event): void => {
      storage.isPointerDown = type === 'pointerdown';
      // The browser cancels the pointer of a finger that begins to scroll.
      isScrolledAway = type === 'pointercancel' || (isScrolledAway && type !== 'pointerup');
    };
    const onWheel = (): void => void (isScrolledAway = true);

    return [
      new Plugin({
        props: {
          handleScrollToSelection(view) {
            isScrolledAway = false;
            follow(view, storage.footPx);
            return true;
          },
        },
        view(view) {
          const onScroll = (): void => {
            if (!view.hasFocus()) return;
            const line = caretLine(view);
            const visible = visibleSpan(storage.footPx);
            isCaretVisible = line.bottom > visible.top && line.top < visible.bottom;
          };
          const onResize = (): void => {
            const { height, scale } = visibleArea();
            // Where the keyboard lies over the page, its height is added to the page, so that its end can be scrolled clear.
            const keyboardPx = Math.max(0, innerHeight - height * scale);
            document.documentElement.style.setProperty('--keyboard', `${keyboardPx}px`);
            const isTurned = width !== innerWidth;
            width = innerWidth;
            if (!view.hasFocus() || storage.isPointerDown) return;
            if (!isScrolledAway || (isTurned && isCaretVisible)) follow(view, storage.footPx);
          };
          const stop = new AbortController();
          const options = { signal: stop.signal, passive: true };
          for (const type of ['pointerdown', 'pointerup', 'pointercancel']) addEventListener(type, onPointer, options);
          addEventListener('wheel', onWheel, options);
          addEventListener('scroll', onScroll, options);
          window.visualViewport?.addEventListener('resize', onResize, options);
          return { destroy: () => stop.abort() };
        },
      }),
    ];
  },
});

function follow(view: EditorView, footPx: number): void {
  const pixels = scrollForCaret(caretLine(view), visibleSpan(footPx));
  if (pixels !== 0) scrollBy(0, pixels);
}
