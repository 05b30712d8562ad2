/** The forms of a six-digit code from a mail, a text message or an authenticator app: entering it, sending it again. */
import { useEffect, useState, type ReactNode } from 'react';
import { parseCode } from '#domain/account/account.ts';
import { isWrongCode, MESSAGES, recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Field, Form, SubmitButton, type FormLook } from './form.tsx';

/** The answer of the auth service, without an error if it accepted the code, or the outcome to show. */
type CodeResult = { error: ProviderError | null } | { outcome: Outcome };

const TEXTS = {
  email: { label: 'Code from your email', incomplete: MESSAGES.codeIncomplete, wrong: MESSAGES.codeInvalid },
  text: {
    label: 'Code from your text message',
    incomplete: 'Enter the six-digit code from the text message.',
    wrong: 'This code is wrong or has expired. Use the code from the latest text message, or request a new one.',
  },
  app: {
    label: 'Code from your authenticator app',
    incomplete: 'Enter the six-digit code that your app shows.',
    wrong: 'This code is wrong or has expired. Enter the code that your app shows now.',
  },
} as const;

type CodeFormProps = FormLook & {
  source?: keyof typeof TEXTS;
  label?: string;
  submitLabel?: string;
  tone?: 'primary' | 'plain';
  autoFocus?: boolean;
  /** Sends the code. `form` holds the additional fields. */
  check: (code: string, form: FormData) => Promise<CodeResult>;
  /** Renders additional fields above the code. */
  children?: ((errorOf: (field: string) => string | null) => ReactNode) | undefined;
};

export function CodeForm({
  layout,
  gap,
  source = 'email',
  label,
  submitLabel = 'Use code',
  tone = 'plain',
  autoFocus,
  check,
  children,
}: CodeFormProps) {
  const texts = TEXTS[source];
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const typed = form.get('code');
    const code = typeof typed === 'string' ? parseCode(typed) : null;
    if (code === null) return { kind: 'error', text: texts.incomplete, field: 'code' };
    const result = await check(code, form);
    if ('outcome' in result) return result.outcome;
    if (!result.error) return null;
    return isWrongCode(result.error)
      ? { kind: 'error', text: texts.wrong, field: 'code' }
      : { kind: 'error', text: recoveryMessage(result.error) };
  });

  return (
    <Form layout={layout} gap={gap} outcome={outcome} onSubmit={onSubmit} noValidate>
      {children?.(errorOf)}
      {/* No maxLength: it would truncate a code that is pasted with spaces. */}
      <Field
        label={label ?? texts.label}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus={autoFocus}
        data-autofocus={autoFocus || undefined}
        required
        error={errorOf('code')}
      />
      <SubmitButton tone={tone} busy={busy} busyLabel="Checking...">
        {submitLabel}
      </SubmitButton>
    </Form>
  );
}

type ResendFormProps = FormLook & {
  send: () => Promise<{ error: ProviderError | null }>;
  /** When the last mail or text was sent, in milliseconds; by default the time of the first render. */
  sentAt?: number | undefined;
  /** Shown after sending. */
  sentText: string;
  children?: ReactNode;
};

/** Sends a mail or a text message again. The button counts down, because an earlier request would send nothing. */
export function ResendForm({ layout, gap, send, sentAt, sentText, children }: ResendFormProps) {
  const { left, restart } = useCountdown(sentAt);
  const isWaiting = left > 0;
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    if (isWaiting) return null;
    const { error } = await send();
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    restart();
    return { kind: 'success', text: sentText };
  });
  return (
    <Form layout={layout} gap={gap} outcome={outcome} onSubmit={onSubmit}>
      {children}
      <SubmitButton tone="plain" busy={busy} busyLabel="Sending..." softDisabled={isWaiting}>
        {isWaiting ? `Send again in ${left} s` : 'Send Again'}
      </SubmitButton>
    </Form>
  );
}

const SENT_AGAIN = { email: 'We sent the email again.', text: 'We texted you another code.' } as const;

type SentCodeFormProps = Omit<CodeFormProps, 'autoFocus' | 'children' | 'source'> & {
  source?: 'email' | 'text';
  /** Sends the code again. */
  send: () => Promise<{ error: ProviderError | null }>;
  /** Shown after sending again. */
  sentText?: string;
  /** Advice for a user who got no code. */
  help?: ReactNode;
};

/** Takes a code that was mailed or texted, and sends it again. */
export function SentCodeForm({
  send,
  source = 'email',
  sentText = SENT_AGAIN[source],
  help,
  ...code
}: SentCodeFormProps) {
  return (
    <>
      <CodeForm {...code} source={source} autoFocus />
      <ResendForm layout={code.layout} gap={code.gap} send={send} sentText={sentText}>
        {help}
      </ResendForm>
    </>
  );
}

const TICK_MS = 1_000;

/**
 * In this time the server sends at most one mail of a kind to an account, and one text message to a phone number
 * (docs/specification/limits.md 2).
 */
const RESEND_SECONDS = 60;

/** Counts down whole seconds from `startedAt` or the first render on, and again from each `restart`. */
export function useCountdown(startedAt?: number): { left: number; restart: () => void } {
  const [now, setNow] = useState(() => Date.now());
  const [start, setStart] = useState(startedAt ?? now);
  // A clock that was set back must not extend the wait.
  const left = Math.min(RESEND_SECONDS, Math.max(0, Math.ceil(RESEND_SECONDS - (now - start) / 1_000)));
  const isRunning = left > 0;
  useEffect(() => {
    if (!isRunning) return;
    // A sleeping machine stops timers, so each tick reads the clock.
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const restart = (): void => {
    setStart(Date.now());
    setNow(Date.now());
  };
  return { left, restart };
}
