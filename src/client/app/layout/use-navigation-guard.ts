/**
 * Stays on the screen while the code of the next one is fetched, and when it does not come: without this the router
 * would have left it by then, and what was typed on it.
 */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { comes, isServerThere, useFetchPart } from '#client/ui/lazy-chunk.ts';

export function useStay(): void {
  const { history, getMatchedRoutes } = useRouter();
  const fetchPart = useFetchPart();

  useEffect(() => {
    let latest = 0;
    return history.block({
      enableBeforeUnload: false,
      blockerFn: async ({ action, nextLocation: { pathname, href } }) => {
        const mine = ++latest;
        const [routes] = getMatchedRoutes(pathname);
        const missing = routes.flatMap(({ options }) => options.component?.preload ?? []);
        const load = async (): Promise<void> => void (await Promise.all(missing.map(async (preload) => preload())));
        if (missing.length === 0) return false;
        if (action === 'REPLACE') {
          // A guard sends on, or a form that is done: there is nothing to stay for.
          if (!(await comes(load))) {
            if (!(await isServerThere())) return false;
            location.replace(href);
            return true;
          }
        } else {
          // A new release has taken the file away: its own page has the screen, and this one is being left anyway.
          const leave = (): void => void (mine === latest && location.assign(href));
          if (!(await fetchPart(load, true, leave))) return true;
        }
        // Who went somewhere else meanwhile stays there.
        return mine !== latest;
      },
    });
  }, [fetchPart, getMatchedRoutes, history]);
}
