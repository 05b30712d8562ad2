/** Adds a phone that codes are texted to. */
import { useRef, useState } from 'react';
import type { ProviderError } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { phoneOutcome, PhoneForm } from '#client/ui/form/phone-form.tsx';
import { ResendForm } from '#client/ui/form/resend-form.tsx';
import { PanelView } from './panel-view.tsx';
import { createRecoveryCodes, findUnusedName, useEnrolment, type AddFactorProps } from './enrolment.ts';
import styles from './security.module.css';

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
  const send = async (phone: string): Promise<Outcome> => {
    const { error, factor } = await enrol({
      factor_type: 'phone',
      friendly_name: findUnusedName('Text message', factors),
      phone,
    });
    if (error === 'cancelled') return null;
    if (error) return phoneOutcome(error);
    const { error: notSent } = await challenge(factor!.id);
    if (!notSent) setSent({ factorId: factor!.id, phone });
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
        <PhoneForm className={styles.form} send={send} />
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
          onAdded(await createRecoveryCodes(auth));
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
