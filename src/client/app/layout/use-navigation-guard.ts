/**
 * Delays navigation until the code of the next screen has loaded, and cancels it when loading fails. Otherwise the
 * router would leave the current screen, with the text typed on it, for an error screen. Redirects are not cancelled.
 */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isServerReachable, tryLoad, useLoadChunk } from '#client/ui/lazy-chunk.ts';

export function useNavigationGuard(): void {
  const { history, getMatchedRoutes } = useRouter();
  const loadChunk = useLoadChunk();

  useEffect(() => {
    let latestId = 0;
    return history.block({
      enableBeforeUnload: false,
      blockerFn: async ({ action, nextLocation: { pathname, href } }) => {
        const id = ++latestId;
        const [routes] = getMatchedRoutes(pathname);
        const preloads = routes.flatMap(({ options }) => options.component?.preload ?? []);
        const load = async (): Promise<void> => void (await Promise.all(preloads.map(async (preload) => preload())));
        if (preloads.length === 0) return false;
        if (action === 'REPLACE') {
          // A route guard or a submitted form redirects: the current screen has nothing left that the user needs.
          if (!(await tryLoad(load))) {
            if (!(await isServerReachable())) return false;
            location.replace(href);
            return true;
          }
        } else {
          // Runs if a new release has deleted the chunk: loads the next screen as a new page, whose chunks exist.
          const leave = (): void => void (id === latestId && location.assign(href));
          if (!(await loadChunk(load, true, leave))) return true;
        }
        // Block if the user has navigated elsewhere in the meantime.
        return id !== latestId;
      },
    });
  }, [loadChunk, getMatchedRoutes, history]);
}
