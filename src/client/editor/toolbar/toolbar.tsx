/**
 * The formatting toolbar. It floats beside the selection; on touch screens, where the system's menu covers a selection,
 * it is a bar above the keyboard. Roving tabindex: arrow keys move between the buttons, Escape returns to the text.
 */
import type { Editor } from '@tiptap/core';
import Pilcrow from 'lucide-react/icons/pilcrow';
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import { DAY_BAR_PX } from '../follow-caret.ts';
import { useToast } from '#client/ui/toast.tsx';
import { onLeftOut, readClipboard, type LeftOut } from '../paste.ts';
import { isEditorKey, withEditorKey } from '../editor-keys.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS, TOUCH_BAR, createToolbarState, type ButtonNames } from './toolbar-actions.ts';
import styles from './toolbar.module.css';

const ITEMS = 'button';

function useTouch(): boolean {
  const [query] = useState(() => matchMedia('(pointer: coarse)'));
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => query.matches,
  );
}

export function Toolbar({ editor }: { editor: Editor }) {
  const touch = useTouch();
  const state = useMemo(() => createToolbarState(editor, touch), [editor, touch]);
  const pressed = useSyncExternalStore(state.subscribe, state.pressed);
  useFileNotice(editor);
  const toolbar = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const text = editor.view.dom;
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (isEditorKey(event, 'toolbar')) {
        event.preventDefault();
        state.open();
        // React has rendered the toolbar by the next frame.
        requestAnimationFrame(() => toolbar.current?.querySelector<HTMLElement>(ITEMS)?.focus());
      } else if (event.key === 'Escape') state.dismiss();
    };
    text.addEventListener('keydown', onKey);
    return () => text.removeEventListener('keydown', onKey);
  }, [editor, state]);

  if (pressed === null) return null;
  const leave = (): void => {
    state.dismiss();
    editor.view.focus();
  };
  return (
    <ToolbarBar
      ref={toolbar}
      editor={editor}
      pressed={pressed}
      disabled={state.disabled()}
      touch={touch}
      onEscape={leave}
      onLeave={() => state.dismiss()}
    />
  );
}

type BarProps = {
  ref: RefObject<HTMLDivElement | null>;
  editor: Editor;
  pressed: ButtonNames;
  disabled: ButtonNames;
  touch: boolean;
  onEscape: () => void;
  onLeave: () => void;
};

function ToolbarBar({ ref, editor, pressed, disabled, touch, onEscape, onLeave }: BarProps) {
  const [more, setMore] = useState(false);
  const [current, setCurrent] = useState(0);
  useFloating(ref, editor, touch);
  const moreActions = more ? BLOCK_ACTIONS : [];
  const actions = touch ? TOUCH_BAR : [...MARK_ACTIONS, ...moreActions];

  const onKeyDown = (event: KeyboardEvent): void => {
    const buttons = [...(ref.current?.querySelectorAll<HTMLElement>(ITEMS) ?? [])];
    const at = buttons.indexOf(event.target as HTMLElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === 'Escape') onEscape();
    else if (next === undefined) return;
    else {
      const index = (next + buttons.length) % buttons.length;
      setCurrent(index);
      buttons[index]?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      ref={ref}
      className={touch ? styles.bar : styles.floating}
      role="toolbar"
      aria-label="Formatting"
      aria-orientation="horizontal"
      onKeyDown={onKeyDown}
      // Keeps the text's focus and selection and, on a phone, the keyboard.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      onBlur={(event) => {
        const { relatedTarget } = event;
        const stays =
          relatedTarget instanceof Node &&
          (ref.current?.contains(relatedTarget) || editor.view.dom.contains(relatedTarget));
        if (!stays) onLeave();
      }}
    >
      {actions.map(({ name, label, icon: Icon, isActive, run }, index) => (
        <button
          key={name}
          type="button"
          className={styles.button}
          aria-label={label}
          title={withEditorKey(label, name)}
          aria-pressed={isActive && pressed.has(name)}
          // Not `disabled`: a tap on it must not take the focus from the text.
          aria-disabled={disabled.has(name) || undefined}
          tabIndex={index === current ? 0 : -1}
          onClick={() => run(editor)}
        >
          <Icon aria-hidden />
        </button>
      ))}
      {!touch && (
        <button
          type="button"
          className={styles.button}
          aria-label="More formatting"
          title="More formatting"
          aria-expanded={more}
          tabIndex={current === actions.length ? 0 : -1}
          onClick={() => setMore(!more)}
        >
          <Pilcrow aria-hidden />
        </button>
      )}
    </div>
  );
}

/** `data-more` names the sides on which the bar has hidden buttons: the style sheet fades these sides. */
function markHiddenButtons(bar: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = bar;
  const isAtEnd = scrollLeft + clientWidth >= scrollWidth - 1;
  bar.dataset['more'] = [scrollLeft > 1 && 'before', !isAtEnd && 'after'].filter(Boolean).join(' ');
}

const LEFT_OUT: Readonly<Record<LeftOut, string>> = {
  pictures: 'Pictures were left out. Logs hold text only.',
  files: 'Logs hold text only.',
};

/** Tells the user that a pasted or dropped picture or file stays out of the log, also for a drop beside the text. */
function useFileNotice(editor: Editor): void {
  const toast = useToast();
  useEffect(() => {
    const notify = (what: LeftOut): void => toast({ kind: 'info', text: LEFT_OUT[what] });
    const listeners = new AbortController();
    const stop = onLeftOut(editor.view, notify);
    const onDrop = ({ dataTransfer }: DragEvent): void => {
      const content = dataTransfer && readClipboard(dataTransfer);
      if (content?.hasFiles && content.text === '' && content.html === '') notify('files');
    };
    addEventListener('drop', onDrop, { signal: listeners.signal });
    return () => {
      listeners.abort();
      stop();
    };
  }, [editor, toast]);
}

/** Positions the toolbar beside the selection or above the keyboard, after each render, on scroll and on resize. */
function useFloating(ref: BarProps['ref'], editor: Editor, touch: boolean): void {
  useLayoutEffect(() => {
    const place = (): void => {
      const element = ref.current;
      if (!element || editor.isDestroyed) return;
      if (touch) {
        editor.storage.followCaret.footPx = element.offsetHeight;
        // Measures the bar's place without the transform: browsers differ in how a keyboard changes the window's
        // height.
        element.style.transform = '';
        const { offsetTop, height } = visualViewport!;
        const covered = Math.max(0, element.getBoundingClientRect().bottom - offsetTop - height);
        element.style.transform = `translateY(${-covered}px)`;
        markHiddenButtons(element);
        return;
      }
      const { from, to } = editor.state.selection;
      const start = editor.view.coordsAtPos(from);
      const end = editor.view.coordsAtPos(to, -1);
      const text = editor.view.dom.getBoundingClientRect();
      const isOneLine = Math.abs(start.top - end.top) < 4;
      const box = {
        left: isOneLine ? start.left : text.left,
        right: isOneLine ? end.right : text.right,
        top: start.top,
        bottom: end.bottom,
      };
      const { left, top } = positionToolbar(
        box,
        { width: element.offsetWidth, height: element.offsetHeight },
        { width: document.documentElement.clientWidth, height: innerHeight },
        DAY_BAR_PX,
      );
      element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    };
    place();
    const moved = { capture: true, passive: true };
    addEventListener('scroll', place, moved);
    addEventListener('resize', place);
    visualViewport?.addEventListener('resize', place);
    visualViewport?.addEventListener('scroll', place);
    return () => {
      // When `JournalEditor` unmounts, its cleanup destroys the editor before this cleanup runs.
      if (!editor.isDestroyed) editor.storage.followCaret.footPx = 0;
      removeEventListener('scroll', place, moved);
      removeEventListener('resize', place);
      visualViewport?.removeEventListener('resize', place);
      visualViewport?.removeEventListener('scroll', place);
    };
  });
}

type Box = { left: number; top: number; right: number; bottom: number };
type Size = { width: number; height: number };

const GAP_PX = 8;
const MARGIN_PX = 8;

/**
 * Positions the floating toolbar above the selection, or below it if there is no room above. All values in CSS pixels
 * of the viewport. `topBarPx`: the height of the day bar, which covers the viewport's top.
 */
export function positionToolbar(
  selection: Box,
  toolbar: Size,
  viewport: Size,
  topBarPx: number,
): { left: number; top: number } {
  const middle = (selection.left + selection.right) / 2 - toolbar.width / 2;
  const left = Math.max(MARGIN_PX, Math.min(middle, viewport.width - toolbar.width - MARGIN_PX));
  const above = selection.top - toolbar.height - GAP_PX;
  const below = selection.bottom + GAP_PX;
  if (above >= topBarPx) return { left, top: above };
  if (below + toolbar.height <= viewport.height - MARGIN_PX) return { left, top: below };
  // No room above or below, for example because the selection fills the window: the toolbar overlaps the selection.
  return { left, top: Math.max(topBarPx, Math.min(above, viewport.height - toolbar.height - MARGIN_PX)) };
}
