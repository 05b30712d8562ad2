/** The mailed link that the page was opened with, until it is used or dropped. */
import { useState } from 'react';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { readMailLink } from './mail-link.ts';
import type { MailLink } from './mail-link.ts';

export function useArrivedLink(): { link: MailLink | null; drop: () => void } {
  const [link, setLink] = useState(() =>
    globalThis.hustleForgeAuthLink === undefined ? null : readMailLink(globalThis.hustleForgeAuthLink),
  );
  const drop = (): void => {
    clearAuthLink();
    setLink(null);
  };
  return { link, drop };
}
