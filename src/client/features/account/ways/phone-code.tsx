/** Signs in with a code that is texted to the user's phone. */
import { useState } from 'react';
import { parsePhone, PHONE_HINT, PHONE_PROBLEM } from '#domain/account/phone.ts';
import { recoveryMessage } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { Field } from '#client/ui/form/field.tsx';
import { ResendForm } from '#client/ui/form/resend-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import type { WayProps } from './way-frame.tsx';
import styles from '../account.module.css';

export function PhoneCode({ frame: Frame, phone: known, onBack }: WayProps) {
  const { auth } = useSupabase();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const send = (phone: string) => auth.signInWithOtp({ phone, options: { shouldCreateUser: false } });
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const phone = parsePhone(textOf(form, 'phone'));
    if (phone === null) return { kind: 'error', text: PHONE_PROBLEM, field: 'phone' };
    const { error } = await send(phone);
    if (error?.code === 'validation_failed') return { kind: 'error', text: PHONE_PROBLEM, field: 'phone' };
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    setSentTo(phone);
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
        key="number"
        title="Sign in with a code"
        lead="We text a code that works once to the phone of your account."
        footer={back}
      >
        <form className={styles.form} onSubmit={onSubmit} noValidate>
          {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
          <Field
            label="Phone number"
            hint={PHONE_HINT}
            name="phone"
            type="tel"
            autoComplete="tel"
            autoFocus
            required
            {...(known !== undefined && { value: known, readOnly: true })}
            error={errorOf('phone')}
          />
          <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Sending...">
            Text me a code
          </Button>
        </form>
      </Frame>
    );
  }
  return (
    <Frame
      key="code"
      title="Check your phone"
      lead={
        <>
          If <strong>{sentTo}</strong> belongs to an account, we texted it a code.
        </>
      }
      footer={back}
    >
      <CodeForm
        className={styles.form}
        source="text"
        autoFocus
        tone="primary"
        submitLabel="Sign in"
        check={async (token) => {
          const { error } = await auth.verifyOtp({ phone: sentTo, token, type: 'sms' });
          if (error) return { error };
          rememberWay('phoneCode');
          return { outcome: null };
        }}
      />
      <ResendForm className={styles.form} send={() => send(sentTo)} sentText="We texted you another code.">
        <p>
          No text message? Wait a moment, or{' '}
          <button type="button" className={styles.inline} onClick={() => setSentTo(null)}>
            {known === undefined ? 'use another number' : 'start again'}
          </button>
          .
        </p>
      </ResendForm>
    </Frame>
  );
}
