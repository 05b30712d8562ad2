/**
 * Moves the keyboard focus to a fallback element when the focused element unmounts, for an area that adds and removes
 * buttons.
 */
import { useCallback, useEffect, useRef, type FocusEvent } from 'react';

/**
 * `fallbackRef`: for the element that receives the focus. `areaProps`: for the element around the area.
 */
export function useFocusRestore() {
  const fallback = useRef<HTMLElement>(null);
  const fallbackRef = useCallback((element: HTMLElement | null) => void (fallback.current = element), []);
  const hasFocus = useRef(false);
  // Removing a focused element fires no blur event, so check after each render.
  useEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) fallback.current?.focus({ preventScroll: true });
  });
  const areaProps = {
    onFocus: () => void (hasFocus.current = true),
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
      void (hasFocus.current = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)),
  };
  return { fallbackRef, areaProps };
}
