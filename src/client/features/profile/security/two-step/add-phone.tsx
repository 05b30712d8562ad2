/** Adds a phone that codes are texted to. */
import { useRef, useState } from 'react';
import { parsePhone, PHONE_HINT, PHONE_PROBLEM } from '#domain/account/phone.ts';
import type { ProviderError } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { Field } from '#client/ui/form/field.tsx';
import { ResendForm } from '#client/ui/form/resend-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PanelView } from '../panel-view.tsx';
import { phoneOutcome } from '../phone/phone-outcome.ts';
import { createCodes, unusedName, useEnrolment } from './enrolment.ts';
import type { AddFactorProps } from './enrolment.ts';
import styles from '../security.module.css';

export function AddPhone({ factors, onAdded, onCancel }: AddFactorProps) {
  const { auth } = useSupabase();
  const { dialog, enrol, discard } = useEnrolment();
  const challengeId = useRef('');
  const [sent, setSent] = useState<{ factorId: string; phone: string } | null>(null);
  const challenge = async (factorId: string): Promise<{ error: ProviderError | null }> => {
    const { data, error } = await auth.mfa.challenge({ factorId, channel: 'sms' });
    if (data) challengeId.current = data.id;
    return { error };
  };
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const phone = parsePhone(textOf(form, 'phone'));
    if (phone === null) return { kind: 'error', text: PHONE_PROBLEM, field: 'phone' };
    const { error, factor } = await enrol({
      factor_type: 'phone',
      friendly_name: unusedName('Text message', factors),
      phone,
    });
    if (error === 'cancelled') return null;
    if (error) return phoneOutcome(error);
    const { error: notSent } = await challenge(factor!.id);
    if (notSent) return phoneOutcome(notSent);
    setSent({ factorId: factor!.id, phone });
    return null;
  });
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
            error={errorOf('phone')}
          />
          <Button tone="primary" type="submit" busy={busy} busyLabel="Sending...">
            Text me a code
          </Button>
        </form>
        {cancel}
      </PanelView>
    );
  }
  return (
    <PanelView key="code" title="Add a phone for text messages">
      <p>
        Enter the code that we texted to <strong>{sent.phone}</strong>.
      </p>
      <CodeForm
        className={styles.form}
        source="text"
        tone="primary"
        submitLabel="Turn on"
        autoFocus
        check={async (code) => {
          const { factorId } = sent;
          const { error } = await auth.mfa.verify({ factorId, challengeId: challengeId.current, code });
          if (error) return { error };
          onAdded(await createCodes(auth));
          return { outcome: null };
        }}
      />
      <ResendForm
        className={styles.form}
        send={() => challenge(sent.factorId)}
        sentText="We texted you another code."
      />
      {cancel}
    </PanelView>
  );
}
