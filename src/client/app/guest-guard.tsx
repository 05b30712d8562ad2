/** The route guard of sign-in, sign-up and forgotten password (docs/specification/screens.md 1). */
import { Outlet, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { hasAuthLink } from '#client/lib/boot/auth-link.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useWelcomeBack } from '#client/ui/account/use-welcome-back.ts';
import { preloadChunksWhenIdle } from '#client/ui/lazy-chunk.ts';
import { LoadingScreen } from './loading-screen.tsx';

const SecondStepScreen = lazy(async () => ({
  default: (await import('#client/features/account/second-step/second-step-screen.tsx')).SecondStepScreen,
}));

/** Asks for the second step of a sign-in, and redirects a signed-in user back to the page they came from. */
export function GuestGuard() {
  const { status, expired, secondStepUser } = useSession();
  const { routesById } = useRouter();
  useWelcomeBack();
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
  if (secondStepUser && !hasAuthLink()) {
    return (
      <Suspense fallback={<LoadingScreen />}>
        <SecondStepScreen user={secondStepUser} />
      </Suspense>
    );
  }
  // A signed-in user may have opened an auth link, such as the one that confirms a changed address.
  return status === 'signedIn' && !expired && !hasAuthLink() ? <RedirectBack /> : <Outlet />;
}

function RedirectBack() {
  const router = useRouter();
  // Read once: while the next screen loads, the location is already that screen's and has no `from`.
  const [from] = useState(() => router.history.location.state.from ?? ROUTES.journal.path);
  // The router's `navigate` would rewrite the query of `from`.
  useEffect(() => router.history.replace(from), [from, router]);
  return <LoadingScreen />;
}
