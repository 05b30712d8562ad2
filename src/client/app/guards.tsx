/** Route guards: which screens guests and signed-in users may open (docs/specification/screens.md 1). */
import { Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { hasAuthLink } from '#client/lib/boot/auth-link.ts';
import { preloadChunksWhenIdle } from '#client/ui/lazy-chunk.ts';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingScreen } from './loading-screen.tsx';

declare module '@tanstack/history' {
  interface HistoryState {
    /** The page that redirected to the login, with its query: a PayPal return must survive the login. */
    from?: string;
  }
}

/** Guards sign-in, sign-up and forgotten password: redirects a signed-in user back to the page they came from. */
export function GuestGuard() {
  const { status, expired } = useSession();
  const { routesById } = useRouter();
  useEffect(() => {
    const screens = routesById['/guests'].children ?? [];
    return preloadChunksWhenIdle(
      screens.map(
        ({ options }) =>
          async () =>
            options.component?.preload?.(),
      ),
    );
  }, [routesById]);
  if (status === 'loading') return <LoadingScreen />;
  // A signed-in user may have opened an auth link, such as the one that confirms a changed address.
  return status === 'signedIn' && !expired && !hasAuthLink() ? <RedirectBack /> : <Outlet />;
}

function RedirectBack() {
  const router = useRouter();
  // Read once: while the next screen loads, the location is already that screen's and has no `from`.
  const [from] = useState(() => router.history.location.state.from ?? ROUTES.journal.path);
  // Through the history instead of the router, which would rewrite the query.
  useEffect(() => router.history.replace(from), [from, router]);
  return <LoadingScreen />;
}

/** `granted` with an expired session too: the screen stays, and the user signs in on top of it. */
export function useMemberAccess(): 'loading' | 'granted' | 'denied' {
  const { status, user } = useSession();
  if (status === 'loading') return 'loading';
  return status === 'signedIn' && user ? 'granted' : 'denied';
}

export function RedirectToLogin() {
  const router = useRouter();
  // Read once: during the redirect the location is already the login screen's.
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
