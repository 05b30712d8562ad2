/** Around every screen: tells keyboard and screen-reader users that the page changed, as a page load would. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useNavigationGuard } from './layout/use-navigation-guard.ts';

export function RootScreen() {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const before = useRef(path);
  useNavigationGuard();

  useEffect(() => {
    const moved = before.current !== undefined && before.current !== path;
    before.current = path;
    if (!moved) return;
    // A screen that took the focus itself, such as a form's first field, knows better.
    const busyElsewhere = document.activeElement !== null && document.activeElement !== document.body;
    if (!busyElsewhere) document.querySelector<HTMLElement>('h1[tabindex="-1"]')?.focus();
  }, [path]);

  return <Outlet />;
}
