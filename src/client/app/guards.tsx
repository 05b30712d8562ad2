/** Who may see which screen (docs/specification/screens.md 1). */
import { Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { hasArrivedLink } from '#client/lib/boot/link-in-address.ts';
import { fetchPartsWhenIdle } from '#client/ui/lazy-chunk.ts';
import { useSession } from '#client/lib/session/session.ts';
import { LoadingScreen } from './loading-screen.tsx';

declare module '@tanstack/history' {
  interface HistoryState {
    /** The page somebody was sent away from to sign in, with its query: a payment's return must survive the login. */
    from?: string;
  }
}

/** Sign-in, sign-up, forgotten password: a signed-in user goes on to where they came from. */
export function GuestsOnly() {
  const { status, expired } = useSession();
  const { routesById } = useRouter();
  useEffect(() => {
    const screens = routesById['/guests'].children ?? [];
    return fetchPartsWhenIdle(
      screens.map(
        ({ options }) =>
          async () =>
            options.component?.preload?.(),
      ),
    );
  }, [routesById]);
  if (status === 'loading') return <LoadingScreen />;
  // A signed-in user may hold a link, such as the one that confirms a changed address.
  return status === 'signedIn' && !expired && !hasArrivedLink() ? <GoOn /> : <Outlet />;
}

function GoOn() {
  const router = useRouter();
  // Read once: while the next screen loads, the address is already that screen's and says nothing of where from.
  const [from] = useState(() => router.history.location.state.from ?? ROUTES.journal.path);
  // By history rather than by route, so that the query stays exactly as it came.
  useEffect(() => router.history.replace(from), [from, router]);
  return <LoadingScreen />;
}

/** Behind this guard there always is a user. An expired session keeps the screen: its writer signs in on top of it. */
export function useMayEnter(): 'wait' | 'yes' | 'no' {
  const { status, user } = useSession();
  if (status === 'loading') return 'wait';
  return status === 'signedIn' && user ? 'yes' : 'no';
}

export function ToLogin() {
  const router = useRouter();
  // Read once: on the way to the login screen the address is already the login screen's own.
  const [from] = useState(() => router.history.location.href);
  return (
    <>
      <Navigate to={ROUTES.login.path} replace state={{ from }} />
      <LoadingScreen />
    </>
  );
}

/** The landing page and the legal pages are documents of their own, so leaving for `/` is a real page load. */
export function ToLanding() {
  useEffect(() => location.replace(ROUTES.landing.path), []);
  return <LoadingScreen />;
}
