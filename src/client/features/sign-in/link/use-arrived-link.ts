/** The link that the page was opened with, until it is used or dropped. */
import { useState } from 'react';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { readArrivedLink, type ArrivedLink } from './arrived-link.ts';

export function useArrivedLink(): { link: ArrivedLink | null; drop: () => void } {
  const [link, setLink] = useState(() =>
    globalThis.hustleForgeAuthLink === undefined ? null : readArrivedLink(globalThis.hustleForgeAuthLink),
  );
  const drop = (): void => {
    clearAuthLink();
    setLink(null);
  };
  return { link, drop };
}
