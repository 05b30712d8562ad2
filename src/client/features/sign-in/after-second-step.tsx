/** Shows its children after the account's second step, or at once if the account needs none. */
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { LoadingText } from '#client/ui/loading-text.tsx';
import type { VerifiedAccount } from './link/use-link-verification.ts';
import styles from './sign-in.module.css';

const SecondStep = lazy(async () => ({
  default: (await import('#client/ui/second-step/second-step.tsx')).SecondStep,
}));

export function AfterSecondStep({ account, children }: { account: VerifiedAccount; children: ReactNode }) {
  const [isPassed, setPassed] = useState(!account.needsSecondStep);
  if (isPassed) return children;
  return (
    <div className={styles.notice}>
      <p>Two-step verification is on for this account. Pass it first.</p>
      <Suspense fallback={<LoadingText />}>
        <SecondStep auth={account.auth} user={account.user} onPassed={() => setPassed(true)} />
      </Suspense>
    </div>
  );
}
