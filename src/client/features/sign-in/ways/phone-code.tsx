/** Signs in with a code that is texted to the user's phone. */
import { useState } from 'react';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { SentCodeForm } from '#client/ui/form/code-form.tsx';
import { phoneOutcome, PhoneForm } from '#client/ui/form/phone-form.tsx';
import { InlineButton } from '#client/ui/button.tsx';
import { OtherWays, type WayProps } from '../sign-in-layout.tsx';

export function PhoneCode({ frame: Frame, phone: known, onBack }: WayProps) {
  const { auth } = useSupabase();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const send = (phone: string) => auth.signInWithOtp({ phone, options: { shouldCreateUser: false } });
  const back = <OtherWays onBack={onBack} />;

  if (sentTo === null) {
    return (
      <Frame
        key="number"
        title="Sign in with a code"
        lead="We text a code that works once to the phone of your account."
        footer={back}
      >
        <PhoneForm
          layout="page"
          fixedPhone={known}
          send={async (phone) => {
            const { error } = await send(phone);
            if (!error) setSentTo(phone);
            return phoneOutcome(error);
          }}
        />
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
      <SentCodeForm
        layout="page"
        source="text"
        tone="primary"
        submitLabel="Sign in"
        check={async (token) => {
          const { error } = await auth.verifyOtp({ phone: sentTo, token, type: 'sms' });
          if (!error) rememberWay('phoneCode');
          return { error };
        }}
        send={() => send(sentTo)}
        help={
          <p>
            No text message? Wait a moment, or{' '}
            <InlineButton onClick={() => setSentTo(null)}>
              {known === undefined ? 'use another number' : 'start again'}
            </InlineButton>
            .
          </p>
        }
      />
    </Frame>
  );
}
