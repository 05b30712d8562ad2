import { useRef, useState, type KeyboardEvent } from 'react';

type Item = { focus: () => void };

/**
 * Roving tabindex: a group of items is one tab stop, and the arrow keys move between its items. `move` returns the
 * index that a key moves to, or null for other keys.
 */
export function useRovingTabindex(count: number, first: number, move: (key: string, at: number) => number | null) {
  const [current, setCurrent] = useState(first);
  const items = useRef(new Map<number, Item>());
  const at = Math.min(current, count - 1);
  /** `open`: the action of an item that is not a link. */
  return (index: number, open?: () => void) => ({
    onClick: open,
    ref: (item: Item | null) => {
      if (item) items.current.set(index, item);
      return () => void items.current.delete(index);
    },
    tabIndex: index === at ? 0 : -1,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const to = move(event.key, index);
      const opens = open && (event.key === 'Enter' || event.key === ' ');
      if (to === null && !opens) return;
      event.preventDefault();
      if (to === null) return open?.();
      const item = items.current.get(to);
      if (!item) return;
      setCurrent(to);
      item.focus();
    },
  });
}
