/** Route guards of the protected screens (docs/specification/screens.md 1). The guests' guard is in guest-guard.tsx. */
import { Navigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingScreen } from './loading-screen.tsx';

declare module '@tanstack/history' {
  interface HistoryState {
    /** The page that redirected to the login, with its query: a PayPal return must survive the login. */
    from?: string;
  }
}

/** Returns `granted` also for an expired session: the screen stays, and the sign-in overlay opens above it. */
export function useMemberAccess(): 'loading' | 'granted' | 'denied' {
  const { status, user } = useSession();
  if (status === 'loading') return 'loading';
  return status === 'signedIn' && user ? 'granted' : 'denied';
}

export function RedirectToLogin() {
  const router = useRouter();
  // The page that the user wanted, read once: during the redirect the location is already the login screen's.
  const [from] = useState(() => router.history.location.href);
  return (
    <>
      <Navigate to={ROUTES.login.path} replace state={{ from }} />
      <LoadingScreen />
    </>
  );
}

/** Loads a new page: the landing page is a separate HTML document, not a route of the app. */
export function RedirectToLanding() {
  useEffect(() => location.replace(ROUTES.landing.path), []);
  return <LoadingScreen />;
}
