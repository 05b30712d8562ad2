/** The link that the page being shown was opened with. */
import { useRouterState } from '@tanstack/react-router';
import { linkInAddress } from './mail-link.ts';
import type { MailLink } from './mail-link.ts';

/** Judged by the page that is shown: the router's `location` is already the next one while this one is being left. */
export function useMailLink(): MailLink | null {
  const search = useRouterState({
    select: ({ location, resolvedLocation }) => (resolvedLocation ?? location).searchStr,
  });
  return linkInAddress(search);
}
