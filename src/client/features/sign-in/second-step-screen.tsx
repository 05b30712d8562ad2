/** The second step of a sign-in, shown on the sign-in page until it is passed or cancelled. */
import type { User } from '#client/lib/session/session.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { Button } from '#client/ui/button.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { SignInLayout } from './sign-in-layout.tsx';

export function SecondStepScreen({ user }: { user: User }) {
  const auth = useAuth();
  return (
    <SignInLayout
      title="Two-step verification"
      lead={
        <>
          One more step to sign in as <strong>{user.email}</strong>.
        </>
      }
    >
      <Stack above="s6" stretch>
        <SecondStep auth={auth} user={user}>
          <Button tone="text" onClick={() => void auth.signOut({ scope: 'local' })}>
            Cancel and sign out
          </Button>
        </SecondStep>
      </Stack>
    </SignInLayout>
  );
}
