/** The second step with a security key, or with a passkey that was set up as one. */
import { providerMessage } from '#domain/messages.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';
import type { FactorProps } from './factor-props.ts';
import styles from './second-step.module.css';

export function SecurityKey({ auth, factor, onPassed }: FactorProps) {
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { error } = await auth.mfa.webauthn.authenticate({ factorId: factor.id });
    // Browsers report a cancelled dialog, a time-out and a missing key alike.
    if (error?.name === 'NotAllowedError') return { kind: 'error', text: 'The security key was not used. Try again.' };
    if (error) return { kind: 'error', text: providerMessage(error) };
    onPassed();
    return null;
  });
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <p>Your browser asks for the security key or passkey that you have set up.</p>
      <Button
        tone="primary"
        type="submit"
        busy={busy}
        busyLabel="Waiting for your security key..."
        autoFocus
        data-autofocus
      >
        Use your security key
      </Button>
    </form>
  );
}
