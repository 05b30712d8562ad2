/**
 * Asks for the second step of a sign-in: a code, a security key or a recovery code (docs/specification/accounts.md 14).
 * On success the session of `auth` is raised to the assurance level `aal2`.
 */
import type { Factor } from '@supabase/auth-js';
import { useState, useRef, type ReactNode } from 'react';
import { isolate } from '#domain/isolate.ts';
import { recoveryMessage, providerMessage, isWrongCode, type ProviderError } from '#domain/messages.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import type { User } from '#client/lib/session/session.ts';
import { useSubmit, textOf } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { CodeForm, SentCodeForm } from '../form/code-form.tsx';
import { Field, Form, SubmitButton } from '../form/form.tsx';
import { Stack } from '../stack.tsx';
import { useToast } from '../toast.tsx';
import { recoveryNotice } from './recovery-notice.ts';

type SecondStepProps = {
  auth: Auth;
  user: User;
  onPassed?: () => void;
  /** The way out, such as a button that cancels the sign-in. */
  children?: ReactNode;
};

const RECOVERY = 'recovery';

export function SecondStep({ auth, user, onPassed = () => undefined, children }: SecondStepProps) {
  const factors = (user.factors ?? []).filter(({ status }) => status === 'verified');
  const [chosen, setChosen] = useState<string>(() => lastUsed(factors)?.id ?? RECOVERY);
  const factor = factors.find(({ id }) => id === chosen);
  const others = factors.filter(({ id }) => id !== chosen);
  return (
    <Stack stretch>
      {/* The key remounts the form, which drops the typed code and the error of the previous factor. */}
      <Way key={chosen} auth={auth} factor={factor} onPassed={onPassed} />
      <Stack gap="s1" stretch>
        {others.map((other) => (
          <Button key={other.id} tone="text" onClick={() => setChosen(other.id)}>
            {offerOf(other, factors)}
          </Button>
        ))}
        {factor && (
          <Button tone="text" onClick={() => setChosen(RECOVERY)}>
            Use a recovery code
          </Button>
        )}
        {children}
      </Stack>
    </Stack>
  );
}

function Way({ auth, factor, onPassed }: { auth: Auth; factor: Factor | undefined; onPassed: () => void }) {
  switch (factor?.factor_type) {
    case 'totp':
      return <AppCode auth={auth} factor={factor} onPassed={onPassed} />;
    case 'phone':
      return <TextedCode auth={auth} factor={factor} onPassed={onPassed} />;
    case 'webauthn':
      return <SecurityKey auth={auth} factor={factor} onPassed={onPassed} />;
    case 'recovery_code':
    case undefined:
      return <RecoveryCode auth={auth} onPassed={onPassed} />;
  }
}

/** The factor that was used last is most likely at hand. */
function lastUsed(factors: readonly Factor[]): Factor | undefined {
  const usedAt = (factor: Factor): number => Date.parse(factor.last_challenged_at ?? '') || 0;
  return factors.toSorted((a, b) => usedAt(b) - usedAt(a))[0];
}

const OFFERS = {
  totp: 'Use your authenticator app',
  phone: 'Text a code to your phone',
  webauthn: 'Use your security key',
  recovery_code: 'Use a recovery code',
} as const;

/** Names the factor if the user has several of its kind. */
function offerOf(factor: Factor, factors: readonly Factor[]): string {
  const isOnlyOne = factors.filter(({ factor_type }) => factor_type === factor.factor_type).length === 1;
  return isOnlyOne || !factor.friendly_name ? OFFERS[factor.factor_type] : `Use “${isolate(factor.friendly_name)}”`;
}

export type FactorProps = {
  /** Holds the session of the first step. */
  auth: Auth;
  factor: Factor;
  onPassed: () => void;
};

function AppCode({ auth, factor, onPassed }: FactorProps) {
  return (
    <CodeForm
      layout="step"
      source="app"
      submitLabel="Continue"
      tone="primary"
      autoFocus
      check={async (code) => {
        const { error } = await auth.mfa.challengeAndVerify({ factorId: factor.id, code });
        if (!error) onPassed();
        return { error };
      }}
    />
  );
}

function TextedCode({ auth, factor, onPassed }: FactorProps) {
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
      <Form layout="step" outcome={outcome} onSubmit={onSubmit}>
        <p>We text a code to the phone that you have set up.</p>
        <SubmitButton busy={busy} busyLabel="Sending..." autoFocus data-autofocus>
          Text me a code
        </SubmitButton>
      </Form>
    );
  }
  return (
    <SentCodeForm
      layout="step"
      source="text"
      submitLabel="Continue"
      tone="primary"
      check={async (code) => {
        const { error } = await auth.mfa.verify({ factorId: factor.id, challengeId: challengeId.current, code });
        if (!error) onPassed();
        return { error };
      }}
      send={send}
    />
  );
}

/** Accepts a security key, or a passkey that was set up as one. */
function SecurityKey({ auth, factor, onPassed }: FactorProps) {
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { error } = await auth.mfa.webauthn.authenticate({ factorId: factor.id });
    // Browsers report a cancelled dialog, a time-out and a missing key alike.
    if (error?.name === 'NotAllowedError') return { kind: 'error', text: 'The security key was not used. Try again.' };
    if (error) return { kind: 'error', text: providerMessage(error) };
    onPassed();
    return null;
  });
  return (
    <Form layout="step" outcome={outcome} onSubmit={onSubmit}>
      <p>Your browser asks for the security key or passkey that you have set up.</p>
      <SubmitButton busy={busy} busyLabel="Waiting for your security key..." autoFocus data-autofocus>
        Use your security key
      </SubmitButton>
    </Form>
  );
}

/** For a user who has lost the devices of all other factors. */
function RecoveryCode({ auth, onPassed }: { auth: Auth; onPassed: () => void }) {
  const pageAuth = useAuth();
  const toast = useToast();
  /** Shows the number of unused codes in a toast. Best effort: the profile page shows the number too. */
  const showRemaining = async (): Promise<void> => {
    const { data } = await auth.mfa.recoveryCodes.getStatus();
    // During a password reset, `auth` is an in-memory client and the page has no session, so the profile cannot open.
    if (data) toast(recoveryNotice(data.remaining, auth === pageAuth));
  };
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const code = textOf(form, 'code').trim();
    if (code === '') return { kind: 'error', text: 'Enter one of your recovery codes.', field: 'code' };
    const { error } = await auth.mfa.recoveryCodes.verify({ code });
    if (error && isWrongCode(error)) {
      return { kind: 'error', text: 'This code is wrong or was already used. Try another one.', field: 'code' };
    }
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    void showRemaining();
    onPassed();
    return null;
  });
  return (
    <Form layout="step" outcome={outcome} onSubmit={onSubmit} noValidate>
      <Field
        label="Recovery code"
        hint="One of the codes that you kept when you turned on two-step verification. Each works once."
        name="code"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        data-autofocus
        required
        error={errorOf('code')}
      />
      <SubmitButton busy={busy} busyLabel="Checking...">
        Continue
      </SubmitButton>
    </Form>
  );
}
