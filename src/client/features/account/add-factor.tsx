/** Adds a second factor: enrols it, and creates the recovery codes once the first one is verified. */
import type { Factor } from '@supabase/auth-js';
import { useState, useEffect, useRef } from 'react';
import { providerMessage, type ProviderError } from '#domain/messages.ts';
import { useAuthRequest } from '#client/lib/api/own-account.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm, SentCodeForm } from '#client/ui/form/code-form.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { phoneOutcome, PhoneForm } from '#client/ui/form/phone-form.tsx';
import { Buttons } from '#client/ui/stack.tsx';
import { useRecentSignIn, toOutcome } from './prove-identity.tsx';
import { CopyButton, PanelView } from './panel.tsx';
import styles from './security.module.css';

type AddFactorProps = {
  factors: readonly Factor[];
  /** Called with new recovery codes to keep; null if the user has codes already, or if creating them failed. */
  onAdded: (codes: readonly string[] | null) => void;
  onCancel: () => void;
};

type EnrolledFactor = { id: string; totp?: { qr_code: string; secret: string } };

function useEnrolment() {
  const request = useAuthRequest();
  const auth = useAuth();
  const { applyChange, dialog } = useRecentSignIn();
  const [factor, setFactor] = useState<EnrolledFactor | null>(null);
  return {
    factor,
    dialog,
    async enrol(parameters: { factor_type: 'totp' | 'phone' | 'webauthn'; friendly_name: string; phone?: string }) {
      const create = () =>
        applyChange((nonce) =>
          request<EnrolledFactor>('POST', '/factors', { ...parameters, issuer: 'Hustle Forge', nonce }),
        );
      let enrolled = await create();
      if (enrolled.error && enrolled.error !== 'cancelled' && enrolled.error.code === 'mfa_factor_name_conflict') {
        await removeUnfinished(auth, parameters.friendly_name);
        enrolled = await create();
      }
      if (!enrolled.error) setFactor(enrolled.data);
      return enrolled;
    },
    /** Best effort: the server deletes an unverified factor after a day. */
    discard() {
      if (factor) void auth.mfa.unenroll({ factorId: factor.id });
    },
  };
}

/** Removes an enrolment that the user left, or whose answer was lost: it would keep its name for five minutes. */
async function removeUnfinished(auth: Auth, name: string): Promise<void> {
  const { data } = await auth.mfa.listFactors();
  for (const { id, status, friendly_name } of data?.all ?? [])
    if (status === 'unverified' && friendly_name === name) await auth.mfa.unenroll({ factorId: id });
}

/** Null if the user already has codes, or if creating them failed: the factor list also offers to create them. */
async function createRecoveryCodes(auth: Auth): Promise<readonly string[] | null> {
  const { data } = await auth.mfa.recoveryCodes.generate();
  return data?.codes ?? null;
}

/** A name that no other factor has: the server refuses two factors of one name. */
function findUnusedName(name: string, factors: readonly Factor[]): string {
  const isTaken = (candidate: string): boolean => factors.some(({ friendly_name }) => friendly_name === candidate);
  let candidate = name;
  for (let number = 2; isTaken(candidate); number += 1) candidate = `${name} ${number}`;
  return candidate;
}

/** Adds an authenticator app: a QR code to scan or a key to type, then a code of the app. */
export function AddApp({ factors, onAdded, onCancel }: AddFactorProps) {
  const auth = useAuth();
  const { factor, dialog, enrol, discard } = useEnrolment();
  const [outcome, setOutcome] = useState<Outcome>(null);
  const isStarted = useRef(false);
  const start = async (): Promise<void> => {
    setOutcome(null);
    const name = findUnusedName('Authenticator app', factors);
    const { error } = await enrol({ factor_type: 'totp', friendly_name: name });
    if (error === 'cancelled') onCancel();
    else if (error) setOutcome(toOutcome(error));
  };
  const fail = (): void => setOutcome({ kind: 'error', text: "Couldn't prepare your app. Please try again." });
  useEffect(() => {
    // StrictMode runs effects twice, and each enrolment has a secret of its own.
    if (isStarted.current) return;
    isStarted.current = true;
    void start().catch(fail);
  });

  const cancel = (): void => {
    discard();
    onCancel();
  };
  const secret = factor?.totp?.secret ?? '';
  return (
    <PanelView title="Add an authenticator app">
      {dialog}
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {!outcome && !factor && <LoadingText />}
      {factor?.totp && (
        <>
          <ol className={styles.steps}>
            <li>
              Scan this code with an authenticator app on your phone.
              <img
                className={styles.qr}
                src={`data:image/svg+xml;utf-8,${factor.totp.qr_code}`}
                alt="QR code for your authenticator app"
              />
            </li>
            <li>
              No camera? Enter this key in the app instead.
              <span className={styles.secret}>
                <code>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
                <CopyButton text={secret} label="Copy key" />
              </span>
            </li>
            <li>Enter the code that the app shows.</li>
          </ol>
          <CodeForm
            source="app"
            tone="primary"
            submitLabel="Turn on"
            check={async (code) => {
              const { error } = await auth.mfa.challengeAndVerify({ factorId: factor.id, code });
              if (!error) onAdded(await createRecoveryCodes(auth));
              return { error };
            }}
          />
        </>
      )}
      <Buttons>
        {outcome && <Button onClick={() => void start().catch(fail)}>Try again</Button>}
        <Button tone="text" onClick={cancel}>
          Cancel
        </Button>
      </Buttons>
    </PanelView>
  );
}

/** Adds a phone that codes are texted to. */
export function AddPhone({ factors, onAdded, onCancel }: AddFactorProps) {
  const auth = useAuth();
  const { dialog, enrol, discard } = useEnrolment();
  const challengeId = useRef('');
  const [sent, setSent] = useState<{ factorId: string; phone: string } | null>(null);
  const challenge = async (factorId: string): Promise<{ error: ProviderError | null }> => {
    const { data, error } = await auth.mfa.challenge({ factorId, channel: 'sms' });
    if (data) challengeId.current = data.id;
    return { error };
  };
  const send = async (phone: string): Promise<Outcome> => {
    const { error, data: added } = await enrol({
      factor_type: 'phone',
      friendly_name: findUnusedName('Text message', factors),
      phone,
    });
    if (error === 'cancelled') return null;
    if (error) return phoneOutcome(error);
    const { error: notSent } = await challenge(added.id);
    if (!notSent) setSent({ factorId: added.id, phone });
    return phoneOutcome(notSent);
  };
  const cancel = (
    <Button
      tone="text"
      onClick={() => {
        discard();
        onCancel();
      }}
    >
      Cancel
    </Button>
  );

  if (!sent) {
    return (
      <PanelView key="number" title="Add a phone for text messages">
        {dialog}
        <PhoneForm send={send} />
        {cancel}
      </PanelView>
    );
  }
  return (
    <PanelView key="code" title="Add a phone for text messages">
      <p>
        Enter the code that we texted to <strong>{sent.phone}</strong>.
      </p>
      <SentCodeForm
        source="text"
        tone="primary"
        submitLabel="Turn on"
        check={async (code) => {
          const { factorId } = sent;
          const { error } = await auth.mfa.verify({ factorId, challengeId: challengeId.current, code });
          if (!error) onAdded(await createRecoveryCodes(auth));
          return { error };
        }}
        send={() => challenge(sent.factorId)}
      />
      {cancel}
    </PanelView>
  );
}

/** Adds a security key that confirms each sign-in. */
export function AddKey({ factors, onAdded, onCancel }: AddFactorProps) {
  const auth = useAuth();
  const { dialog, enrol } = useEnrolment();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const name = findUnusedName('Security key', factors);
    const { error, data: added } = await enrol({ factor_type: 'webauthn', friendly_name: name });
    if (error) return toOutcome(error);
    // For an unverified factor the server sends a registration challenge, so `authenticate` registers the key.
    const { error: failed } = await auth.mfa.webauthn.authenticate({ factorId: added.id });
    if (failed) {
      // Best effort: the server deletes an unverified factor after a day.
      void auth.mfa.unenroll({ factorId: added.id });
      return failed.name === 'NotAllowedError' || failed.name === 'InvalidStateError'
        ? { kind: 'error', text: 'No security key was added. Try again.' }
        : { kind: 'error', text: providerMessage(failed) };
    }
    onAdded(await createRecoveryCodes(auth));
    return null;
  });
  return (
    <PanelView title="Add a security key">
      {dialog}
      <p>Plug the key in or hold it ready. Your browser asks for it.</p>
      <Form outcome={outcome} onSubmit={onSubmit}>
        <SubmitButton busy={busy} busyLabel="Waiting for your key..." autoFocus>
          Add the key
        </SubmitButton>
      </Form>
      <Button tone="text" onClick={onCancel}>
        Cancel
      </Button>
    </PanelView>
  );
}
