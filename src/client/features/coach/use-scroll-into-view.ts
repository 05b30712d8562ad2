/** Scrolls an element into view without moving the focus. */
import { useEffect, useRef } from 'react';

/**
 * Scrolls into view when `key` changes; null disables it. An element in the upper half of the window stays, because it
 * has room to grow. Scrolls without animation, for reduced motion.
 */
export function useScrollIntoView(key: string | null) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const top = element.current?.getBoundingClientRect().top ?? 0;
    if (key !== null && (top < 0 || top > innerHeight / 2)) element.current?.scrollIntoView({ block: 'start' });
  }, [key]);
  return element;
}
