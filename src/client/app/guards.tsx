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

/** `granted` with an expired session too: the screen stays, and the user signs in on top of it. */
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

/** A full page load: the landing and legal pages are separate HTML documents. */
export function RedirectToLanding() {
  useEffect(() => location.replace(ROUTES.landing.path), []);
  return <LoadingScreen />;
}
