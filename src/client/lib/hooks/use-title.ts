/** Names the browser tab after the screen. */
import { useEffect } from 'react';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Hustle Forge`;
  }, [title]);
}
