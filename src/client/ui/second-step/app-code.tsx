/** The second step with the code of an authenticator app. */
import { CodeForm } from '../form/code-form.tsx';
import type { FactorProps } from './factor-props.ts';
import styles from './second-step.module.css';

export function AppCode({ auth, factor, onPassed }: FactorProps) {
  return (
    <CodeForm
      className={styles.form}
      source="app"
      submitLabel="Continue"
      tone="primary"
      autoFocus
      check={async (code) => {
        const { error } = await auth.mfa.challengeAndVerify({ factorId: factor.id, code });
        if (error) return { error };
        onPassed();
        return { outcome: null };
      }}
    />
  );
}
