/** The fields that prove that the owner of the account is at the device: the password, or a code that is sent first. */
import { useState } from 'react';
import { recoveryMessage } from '#domain/messages.ts';
import type { Proof } from '#client/lib/api/own-account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { RESEND_SECONDS, useCountdown } from '#client/lib/hooks/use-countdown.ts';
import { textOf } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field } from '#client/ui/form/field.tsx';
import { PasswordField } from '#client/ui/form/password-field.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './delete-account.module.css';

/** The kinds of proof that a form can take. */
export type ProofKind = 'none' | 'password' | 'code';

type ProofFieldsProps = { kind: ProofKind; errorOf: (field: string) => string | null };

export function ProofFields({ kind, errorOf }: ProofFieldsProps) {
  const { email } = useUser();
  if (kind === 'none') return null;
  if (kind === 'code') return <CodeField error={errorOf('code')} />;
  return (
    <>
      {/* Tells a password manager whose password it is. */}
      <input hidden type="text" autoComplete="username" value={email ?? ''} readOnly />
      <PasswordField
        label="Your password"
        name="password"
        autoComplete="current-password"
        required
        invalidText="Enter your password"
        autoFocus
        data-autofocus
        error={errorOf('password')}
      />
    </>
  );
}

export const proofOf = (form: FormData): Proof => ({
  password: textOf(form, 'password'),
  nonce: textOf(form, 'code').replaceAll(/\s/g, ''),
});

function CodeField({ error }: { error: string | null }) {
  const { auth } = useSupabase();
  const { email, phone } = useUser();
  const { left, restart } = useCountdown(RESEND_SECONDS);
  const [state, setState] = useState<'idle' | 'sending' | 'sent'>('idle');
  const [problem, setProblem] = useState<string | null>(null);
  const target = email || `+${phone}`;

  async function send(): Promise<void> {
    setState('sending');
    const { error: failure } = await auth.reauthenticate();
    setProblem(failure && recoveryMessage(failure));
    setState(failure ? 'idle' : 'sent');
    restart();
  }

  return (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {state !== 'sent' && (
        <p className={styles.text}>
          To confirm that it's you, we send a six-digit code to <strong>{target}</strong>.
        </p>
      )}
      {state === 'sent' && (
        <Field
          label={`Code sent to ${target}`}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          invalidText="Enter the six-digit code"
          autoFocus
          error={error}
        />
      )}
      <Button
        className={styles.send}
        autoFocus
        busy={state === 'sending'}
        busyLabel="Sending..."
        softDisabled={state === 'sent' && left > 0}
        onClick={() => void send()}
      >
        {state !== 'sent' ? 'Send code' : left > 0 ? `Send again in ${left} s` : 'Send again'}
      </Button>
    </>
  );
}
