/** The link that the page was opened with, until somebody has acted on it. */
import { useState } from 'react';
import { dropArrivedLink } from '#client/lib/boot/link-in-address.ts';
import { readMailLink } from './mail-link.ts';
import type { MailLink } from './mail-link.ts';

export function useArrivedLink(): { link: MailLink | null; drop: () => void } {
  const [link, setLink] = useState(() =>
    globalThis.hustleForgeLink === undefined ? null : readMailLink(globalThis.hustleForgeLink),
  );
  const drop = (): void => {
    dropArrivedLink();
    setLink(null);
  };
  return { link, drop };
}
