/**
 * Wraps every screen. Moves the focus to the new heading after a navigation, so that screen readers announce the page.
 */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { useNavigationGuard } from './layout/use-navigation-guard.ts';

export function RootScreen() {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const previousPath = useRef(path);
  useNavigationGuard();
  useDismissEarlyPage(path !== undefined && path !== ROUTES.journal.path);

  useEffect(() => {
    const hasNavigated = previousPath.current !== undefined && previousPath.current !== path;
    previousPath.current = path;
    if (!hasNavigated) return;
    // Leave the focus where the screen has put it, such as on the first field of a form.
    const isFocusSet = document.activeElement !== null && document.activeElement !== document.body;
    if (!isFocusSet) document.querySelector<HTMLElement>('h1[tabindex="-1"]')?.focus();
  }, [path]);

  return <Outlet />;
}
