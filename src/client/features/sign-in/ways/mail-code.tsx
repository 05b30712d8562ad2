/** Signs in with a code that is mailed to the user's address. */
import { useState } from 'react';
import { validateEmail } from '#domain/account/account.ts';
import { recoveryMessage } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { EmailField } from '../email-field.tsx';
import { mailCode, MailedCode } from './mailed-code.tsx';
import type { WayProps } from './way-frame.tsx';
import styles from '../sign-in.module.css';

export function MailCode({ frame: Frame, address, onBack }: WayProps) {
  const { auth } = useSupabase();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = address ?? textOf(form, 'email').trim();
    const problem = validateEmail(email);
    if (problem) return { kind: 'error', text: problem, field: 'email' };
    const { error } = await mailCode(auth, email);
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    setSentTo(email);
    return null;
  });
  const back = (
    <button type="button" className={styles.inline} onClick={onBack}>
      Sign in another way
    </button>
  );

  if (sentTo === null) {
    return (
      <Frame
        key="address"
        title="Sign in with a code"
        lead="We email you a code that works once. You need no password."
        footer={back}
      >
        <form className={styles.form} onSubmit={onSubmit} noValidate>
          {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
          {address === undefined ? (
            <EmailField autoFocus error={errorOf('email')} />
          ) : (
            <EmailField value={address} readOnly />
          )}
          <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Sending...">
            Email me a code
          </Button>
        </form>
      </Frame>
    );
  }
  return (
    <MailedCode
      frame={Frame}
      address={sentTo}
      onRestart={() => setSentTo(null)}
      restartLabel={address === undefined ? 'use another address' : 'start again'}
      footer={back}
    />
  );
}
