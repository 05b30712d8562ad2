/** For a part whose buttons come and go: whoever uses keys alone and stood on one that is gone shall not stand nowhere. */
import { useCallback, useEffect, useRef } from 'react';
import type { FocusEvent } from 'react';

/** `place`: the ref of what takes the focus then. `area`: for the element around all that may have it. */
export function useFocusKept() {
  const kept = useRef<HTMLElement>(null);
  const place = useCallback((element: HTMLElement | null) => void (kept.current = element), []);
  const within = useRef(false);
  // Of what is taken away while it has the focus nobody hears that it lost it.
  useEffect(() => {
    if (within.current && document.activeElement === document.body) kept.current?.focus({ preventScroll: true });
  });
  const area = {
    onFocus: () => void (within.current = true),
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
      void (within.current = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)),
  };
  return { place, area };
}
