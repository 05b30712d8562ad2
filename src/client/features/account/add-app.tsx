/** Adds an authenticator app: a QR code to scan or a key to type, then a code of the app. */
import { useEffect, useRef, useState } from 'react';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { CopyButton } from './copy-button.tsx';
import { PanelView } from './panel-view.tsx';
import { toOutcome } from './recent-sign-in.tsx';
import { createRecoveryCodes, findUnusedName, useEnrolment, type AddFactorProps } from './enrolment.ts';
import styles from './security.module.css';
import appStyles from './add-app.module.css';

export function AddApp({ factors, onAdded, onCancel }: AddFactorProps) {
  const { auth } = useSupabase();
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
          <ol className={appStyles.steps}>
            <li>
              Scan this code with an authenticator app on your phone.
              <img
                className={appStyles.qr}
                src={`data:image/svg+xml;utf-8,${factor.totp.qr_code}`}
                alt="QR code for your authenticator app"
              />
            </li>
            <li>
              No camera? Enter this key in the app instead.
              <span className={appStyles.secret}>
                <code>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
                <CopyButton text={secret} label="Copy key" />
              </span>
            </li>
            <li>Enter the code that the app shows.</li>
          </ol>
          <CodeForm
            className={styles.form}
            source="app"
            tone="primary"
            submitLabel="Turn on"
            check={async (code) => {
              const { error } = await auth.mfa.challengeAndVerify({ factorId: factor.id, code });
              if (error) return { error };
              onAdded(await createRecoveryCodes(auth));
              return { outcome: null };
            }}
          />
        </>
      )}
      <div className={styles.buttons}>
        {outcome && <Button onClick={() => void start().catch(fail)}>Try again</Button>}
        <Button tone="text" onClick={cancel}>
          Cancel
        </Button>
      </div>
    </PanelView>
  );
}
