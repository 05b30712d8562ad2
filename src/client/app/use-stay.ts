/**
 * Stays on the screen while the code of the next one is fetched, and when it does not come: without this the router
 * would have left it by then, or loaded the whole page again, and without a connection neither leads anywhere.
 */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useFetchPart } from '#client/lib/part.ts';

export function useStay(): void {
  const { history, getMatchedRoutes, routesById } = useRouter();
  const fetchPart = useFetchPart();

  useEffect(() => {
    let latest = 0;
    return history.block({
      enableBeforeUnload: false,
      blockerFn: async ({ nextLocation }) => {
        const mine = ++latest;
        const [, , next] = getMatchedRoutes(nextLocation.pathname);
        // Whoever is signed out has to go, whether or not there is a screen for them.
        if (next?.parentRoute !== routesById['/members']) return false;
        const preload = next.options.component?.preload;
        if (preload && !(await fetchPart(async () => preload()))) return true;
        // Who went somewhere else meanwhile stays there.
        return mine !== latest;
      },
    });
  }, [fetchPart, getMatchedRoutes, history, routesById]);
}
