/** A click or tap on the empty part of the page starts writing there. */
import { useRef } from 'react';
import type { MouseEvent } from 'react';

/** A mouse that moved further than this was dragged. */
const CLICK_LIMIT_PX = 4;

/**
 * Handlers for the element that the empty part of the page belongs to. They ignore what is pressed inside it, a drag
 * (it selects text), and a press that began elsewhere. A scroll by finger is no click.
 */
export function useBlankPage(focusAtHeight: (clientY: number) => unknown) {
  const pressedAt = useRef<{ x: number; y: number } | null>(null);
  return {
    onMouseDown: (event: MouseEvent): void => {
      const { target, currentTarget, clientX: x, clientY: y } = event;
      pressedAt.current = target === currentTarget ? { x, y } : null;
      // On a phone the editor keeps its focus: without it the keyboard would close and open again.
      if (pressedAt.current && matchMedia('(pointer: coarse)').matches) event.preventDefault();
    },
    onClick: ({ target, currentTarget, clientX, clientY, shiftKey }: MouseEvent): void => {
      const from = pressedAt.current;
      if (target !== currentTarget || !from || shiftKey) return;
      if (Math.hypot(clientX - from.x, clientY - from.y) <= CLICK_LIMIT_PX) focusAtHeight(clientY);
    },
  };
}
