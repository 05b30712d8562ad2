/**
 * The fields by which users prove their identity, for example before they change a sign-in method, make a token or
 * delete the account: the second step, the password, or a code by mail or text message.
 */
import { useCallback, useState, useEffect, useRef } from 'react';
import { recoveryMessage, isWrongCode, type ProviderError } from '#domain/messages.ts';
import type { Proof } from '#client/lib/api/own-account.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useCountdown, SentCodeForm } from '#client/ui/form/code-form.tsx';
import { textOf, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field, PasswordField } from '#client/ui/form/form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { Buttons, Quiet, Stack } from '#client/ui/stack.tsx';
import { Dialog } from '#client/ui/dialog.tsx';

export const PROOF_TITLE = 'Confirm that it is you';

export function SecondStepProof({ onPassed, onCancel }: { onPassed: () => void; onCancel: () => void }) {
  const auth = useAuth();
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
function useProofCode() {
  const auth = useAuth();
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
  const { left, restart } = useCountdown();
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

// Applies changes that need a recent sign-in (docs/specification/api.md 31). If the sign-in is older than a day, a
// dialog asks for the second step or, without one, for a code by mail or text message, and applies the change again.

/** `nonce` is the code that was sent; empty at first, and after a second step. */
export type Change<Data = unknown> = (nonce: string) => Promise<{ data?: Data | null; error: ProviderError | null }>;
type ChangeError = ProviderError | 'cancelled';
/** `passed`: the second step; the change is applied again. Otherwise the outcome of the change with a code. */
type Settled = 'passed' | { data?: unknown; error: ChangeError | null };
type Pending = { change: Change; settle: (result: Settled) => void };

/** `dialog`: render it anywhere in the panel. */
export function useRecentSignIn() {
  const [pending, setPending] = useState<Pending | null>(null);
  const applyChange = async <Data,>(
    change: Change<Data>,
  ): Promise<{ data: Data; error: null } | { data: null; error: ChangeError }> => {
    const first = await change('');
    if (first.error?.code !== 'reauthentication_needed') return first as never;
    const proven = await new Promise<Settled>((settle) => setPending({ change, settle }));
    setPending(null);
    return (proven === 'passed' ? await change('') : proven) as never;
  };
  return { applyChange, dialog: pending && <ConfirmDialog {...pending} /> };
}

/** The outcome to show for a failed change; null for one that the user has cancelled. `texts` are by error code. */
export const toOutcome = (error: ChangeError, texts: Readonly<Record<string, string>> = {}): Outcome =>
  error === 'cancelled' ? null : { kind: 'error', text: texts[error.code ?? ''] ?? recoveryMessage(error) };

function ConfirmDialog({ change, settle }: Pending) {
  const { factors } = useUser();
  const hasFactor = factors?.some(({ status }) => status === 'verified') === true;
  const cancel = (): void => settle({ error: 'cancelled' });
  return (
    <Dialog title={PROOF_TITLE} onClose={cancel}>
      <Stack>
        <p>You signed in more than a day ago.</p>
        {hasFactor ? (
          <SecondStepProof onPassed={() => settle('passed')} onCancel={cancel} />
        ) : (
          <MailedCode change={change} settle={settle} />
        )}
      </Stack>
    </Dialog>
  );
}

function MailedCode({ change, settle }: Pending) {
  const auth = useAuth();
  const { target, source, problem, send } = useProofCode();
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    void send();
  }, [send]);
  return (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <p>
        Enter the code that we sent to <strong>{target}</strong>.
      </p>
      <SentCodeForm
        source={source}
        tone="primary"
        submitLabel="Continue"
        check={async (code) => {
          const answer = await change(code);
          if (answer.error && isWrongCode(answer.error)) return { error: answer.error };
          settle(answer);
          return { outcome: null };
        }}
        send={() => auth.reauthenticate()}
        sentText="We sent you another code."
      />
      <Button tone="text" onClick={() => settle({ error: 'cancelled' })}>
        Cancel
      </Button>
    </>
  );
}
