/** The second step with a code that is texted to the user's phone. */
import { useRef, useState } from 'react';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { CodeForm } from '../form/code-form.tsx';
import { ResendForm } from '../form/resend-form.tsx';
import { Notice } from '../notice.tsx';
import type { FactorProps } from './factor-props.ts';
import styles from './second-step.module.css';

export function TextedCode({ auth, factor, onPassed }: FactorProps) {
  const challengeId = useRef('');
  const [isSent, setSent] = useState(false);
  const send = async (): Promise<{ error: ProviderError | null }> => {
    const { data, error } = await auth.mfa.challenge({ factorId: factor.id, channel: 'sms' });
    if (data) challengeId.current = data.id;
    return { error };
  };
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { error } = await send();
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    setSent(true);
    return null;
  });

  if (!isSent) {
    return (
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <p>We text a code to the phone that you have set up.</p>
        <Button tone="primary" type="submit" busy={busy} busyLabel="Sending..." autoFocus data-autofocus>
          Text me a code
        </Button>
      </form>
    );
  }
  return (
    <>
      <CodeForm
        className={styles.form}
        source="text"
        submitLabel="Continue"
        tone="primary"
        autoFocus
        check={async (code) => {
          const { error } = await auth.mfa.verify({ factorId: factor.id, challengeId: challengeId.current, code });
          if (error) return { error };
          onPassed();
          return { outcome: null };
        }}
      />
      <ResendForm className={styles.form} send={send} sentText="We texted you another code." />
    </>
  );
}
