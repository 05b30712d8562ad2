/** Route guards of the protected screens (docs/specification/screens.md 1). The guests' guard is in guest-guard.tsx. */
import { Redirect } from 'wouter';
import { useEffect, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import type { PageState } from '#client/lib/navigation.ts';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingScreen } from './loading-screen.tsx';

/** Returns `granted` also for an expired session: the screen stays, and the sign-in overlay opens above it. */
export function useMemberAccess(): 'loading' | 'granted' | 'denied' {
  const { status, user } = useSession();
  if (status === 'loading') return 'loading';
  return status === 'signedIn' && user ? 'granted' : 'denied';
}

export function RedirectToLogin() {
  // The page that the user wanted, read once: during the redirect the location is already the login screen's.
  const [from] = useState(() => location.pathname + location.search + location.hash);
  return (
    <>
      <Redirect to={ROUTES.login.path} replace state={{ from } satisfies PageState} />
      <LoadingScreen />
    </>
  );
}

/** Loads a new page: the landing page is a separate HTML document, not a route of the app. */
export function RedirectToLanding() {
  useEffect(() => location.replace(ROUTES.landing.path), []);
  return <LoadingScreen />;
}
