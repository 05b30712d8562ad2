/**
 * The fields by which users prove their identity before they change how the account signs in or delete it: the second
 * step, the password, or a mailed code.
 */
import { useCallback, useState } from 'react';
import { recoveryMessage } from '#domain/messages.ts';
import type { Proof } from '#client/lib/api/own-account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { RESEND_SECONDS, useCountdown } from '#client/lib/hooks/use-countdown.ts';
import { textOf } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field, PasswordField } from '#client/ui/form/field.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { Buttons, Quiet } from '#client/ui/stack.tsx';

export const PROOF_TITLE = 'Confirm that it is you';

export function SecondStepProof({ onPassed, onCancel }: { onPassed: () => void; onCancel: () => void }) {
  const { auth } = useSupabase();
  return (
    <SecondStep auth={auth} user={useUser()} onPassed={onPassed}>
      <Button tone="text" onClick={onCancel}>
        Cancel
      </Button>
    </SecondStep>
  );
}

/** The server sends one code a minute. On these errors the form asks for the last code, which still works. */
const SENT_ALREADY = new Set(['over_email_send_rate_limit', 'over_sms_send_rate_limit']);

/** Sends the code that proves who is at the device. */
export function useProofCode() {
  const { auth } = useSupabase();
  const { email, phone } = useUser();
  const [problem, setProblem] = useState<string | null>(null);
  /** Resolves with whether the user has a code that works. */
  const send = useCallback(async (): Promise<boolean> => {
    const { error } = await auth.reauthenticate();
    const isSent = !error || SENT_ALREADY.has(error.code ?? '');
    setProblem(isSent ? null : recoveryMessage(error));
    return isSent;
  }, [auth]);
  const source: 'email' | 'text' = email ? 'email' : 'text';
  return { target: email || `+${phone}`, source, problem, send };
}

/** The kinds of proof that a form can take. */
export type ProofKind = 'none' | 'password' | 'code';

type ProofFieldsProps = { kind: ProofKind; errorOf: (field: string) => string | null };

/** The fields that prove that the owner of the account is at the device: the password, or a code that is sent first. */
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
  const { target, problem, send: sendCode } = useProofCode();
  const { left, restart } = useCountdown(RESEND_SECONDS);
  const [state, setState] = useState<'idle' | 'sending' | 'sent'>('idle');

  async function send(): Promise<void> {
    setState('sending');
    setState((await sendCode()) ? 'sent' : 'idle');
    restart();
  }

  return (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {state !== 'sent' && (
        <Quiet>
          To confirm that it's you, we send a six-digit code to <strong>{target}</strong>.
        </Quiet>
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
      <Buttons>
        <Button
          autoFocus
          busy={state === 'sending'}
          busyLabel="Sending..."
          softDisabled={state === 'sent' && left > 0}
          onClick={() => void send()}
        >
          {state !== 'sent' ? 'Send code' : left > 0 ? `Send again in ${left} s` : 'Send again'}
        </Button>
      </Buttons>
    </>
  );
}
