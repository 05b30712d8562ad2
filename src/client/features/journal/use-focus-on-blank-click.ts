/** Focuses the editor on a click or tap in the empty part of the page. */
import { useRef, type MouseEvent } from 'react';

/** A longer movement of the mouse is a drag. */
const MAX_CLICK_MOVE_PX = 4;

/**
 * Handlers for the element of the empty page area. They ignore clicks on its children, drags (which select text) and
 * presses that began elsewhere. A touch scroll fires no click.
 */
export function useFocusOnBlankClick(focusAtHeight: (clientY: number) => unknown) {
  const pressedAt = useRef<{ x: number; y: number } | null>(null);
  return {
    onMouseDown: (event: MouseEvent): void => {
      const { target, currentTarget, clientX: x, clientY: y } = event;
      pressedAt.current = target === currentTarget ? { x, y } : null;
      // Keep the editor's focus on a phone, or its keyboard would close and open again.
      if (pressedAt.current && matchMedia('(pointer: coarse)').matches) event.preventDefault();
    },
    onClick: ({ target, currentTarget, clientX, clientY, shiftKey }: MouseEvent): void => {
      const from = pressedAt.current;
      if (target !== currentTarget || !from || shiftKey) return;
      if (Math.hypot(clientX - from.x, clientY - from.y) <= MAX_CLICK_MOVE_PX) focusAtHeight(clientY);
    },
  };
}
