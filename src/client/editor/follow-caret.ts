/**
 * Scrolls the caret's line into view, clear of the day bar, the formatting bar and an on-screen keyboard: after typing
 * and caret keys (through ProseMirror), when the visible area changes (keyboard, rotation) and when the caret moves
 * without a key (the cursor control of a phone's keyboard). A change of the visible area does not scroll back a user
 * who has scrolled away from the caret.
 */
import { Extension, type Storage } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';

declare module '@tiptap/core' {
  interface Storage {
    followCaret: {
      /** The height of the formatting bar at the bottom of a touch screen; 0 without it. */
      footPx: number;
      isPointerDown: boolean;
    };
  }
}

/** The height of the journal's sticky day bar. */
export const DAY_BAR_PX = 68;

/** A document that is not displayed has no visual viewport. */
const visibleArea = (): Pick<VisualViewport, 'offsetTop' | 'height' | 'scale'> =>
  window.visualViewport ?? { offsetTop: 0, height: innerHeight, scale: 1 };

/** The part of the window that no bar and no keyboard covers, in the coordinates of `getBoundingClientRect`. */
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
    // A click sets the caret in visible text, so nothing has to scroll. On a phone (`footPx` is not 0) a tap may set it
    // behind the formatting bar.
    if (docChanged || !selection.empty || isPointerDown || (transaction.getMeta('pointer') && footPx === 0)) return;
    if (this.editor.isFocused) follow(this.editor.view, footPx);
  },

  addProseMirrorPlugins() {
    const { storage } = this;
    /** Whether the user has scrolled since the last edit, caret key or tap. */
    let isScrolledAway = false;
    /** Whether the caret was visible after the last scroll, by the user or by script. */
    let isCaretVisible = true;
    let width = innerWidth;

    const onPointer = ({ type }: Event): void => {
      storage.isPointerDown = type === 'pointerdown';
      // The browser fires pointercancel when a touch starts to scroll.
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
            // Some browsers overlay the keyboard on the page: extend the page, so that its end can be scrolled into
            // view.
            const keyboardPx = Math.max(0, innerHeight - height * scale);
            document.documentElement.style.setProperty('--keyboard', `${keyboardPx}px`);
            const hasRotated = width !== innerWidth;
            width = innerWidth;
            if (!view.hasFocus() || storage.isPointerDown) return;
            if (!isScrolledAway || (hasRotated && isCaretVisible)) follow(view, storage.footPx);
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

type Span = { top: number; bottom: number };

/** About three lines of a log. */
const MAX_MARGIN_PX = 80;

/**
 * Returns the pixels to scroll down, or up when negative, so that the caret's line has a margin; 0 if it has one.
 * `visible` is the part of the window that no bar and no on-screen keyboard covers. The margin shrinks with `visible`,
 * because a phone in landscape shows only a few lines.
 */
export function scrollForCaret(line: Span, visible: Span): number {
  const spare = visible.bottom - visible.top - (line.bottom - line.top);
  const margin = Math.min(MAX_MARGIN_PX, Math.max(0, spare / 6));
  const below = line.bottom - visible.bottom + margin;
  const above = line.top - visible.top - margin;
  // The lower edge takes precedence: in a line that does not fit, the typed text is at the bottom.
  if (below > 0 || spare < 0) return Math.round(below);
  return above < 0 ? Math.round(above) : 0;
}
