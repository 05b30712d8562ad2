/** Brings what somebody has just asked for into sight, and leaves their focus where it is. */
import { useEffect, useRef } from 'react';

/**
 * Looks each time that `news` becomes another one; null is none. What begins in the upper half of the window has room to
 * grow there. The rest is scrolled to, at once: a way there would be motion that some people cannot bear.
 */
export function useInView(news: string | null) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const top = place.current?.getBoundingClientRect().top ?? 0;
    if (news !== null && (top < 0 || top > innerHeight / 2)) place.current?.scrollIntoView({ block: 'start' });
  }, [news]);
  return place;
}
