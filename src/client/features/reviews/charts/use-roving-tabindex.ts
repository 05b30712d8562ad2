/** One stop for Tab among many things that belong together; the arrow keys go from one to the next. */
import { useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';

type Item = { focus: () => void };

/** `move` answers where a key leads from `at`, or null for a key that leads nowhere. */
export function useRoving(count: number, first: number, move: (key: string, at: number) => number | null) {
  const [current, setCurrent] = useState(first);
  const items = useRef(new Map<number, Item>());
  const at = Math.min(current, count - 1);
  /** `open`: what a press on the item does, for items that are no links. */
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
