/** The route guard of sign-in, sign-up and forgotten password (docs/specification/screens.md 1). */
import { Suspense, useEffect, useState, type PropsWithChildren } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { hasAuthLink } from '#client/lib/boot/auth-link.ts';
import { pageState, useNavigate } from '#client/lib/navigation.ts';
import { useSession } from '#client/lib/session/session.ts';
import { lazyChunk } from '#client/ui/lazy-chunk.ts';
import { useWelcomeBack } from '#client/ui/use-welcome-back.ts';
import { LoadingScreen } from './full-screen.tsx';

const secondStepScreen = lazyChunk(
  async () => (await import('#client/features/sign-in/second-step-screen.tsx')).SecondStepScreen,
);

/** Asks for the second step of a sign-in, and redirects a signed-in user back to the page they came from. */
export function GuestGuard({ children }: PropsWithChildren) {
  const { status, expired, secondStepUser } = useSession();
  useWelcomeBack();
  const needsSecondStep = secondStepUser !== null && !hasAuthLink();
  useDismissEarlyPage(status !== 'loading' && needsSecondStep);
  if (status === 'loading') return <LoadingScreen />;
  if (secondStepUser && needsSecondStep) {
    return (
      <Suspense fallback={<LoadingScreen />}>
        <secondStepScreen.LoadingView user={secondStepUser} />
      </Suspense>
    );
  }
  // A signed-in user may have opened an auth link, such as the one that confirms a changed address.
  return status === 'signedIn' && !expired && !hasAuthLink() ? <RedirectBack /> : children;
}

function RedirectBack() {
  const navigate = useNavigate();
  // Read once: after the redirect, the page has no `from`.
  const [from] = useState(() => pageState().from ?? ROUTES.journal.path);
  useEffect(() => void navigate(from, { replace: true }), [from, navigate]);
  return <LoadingScreen />;
}
