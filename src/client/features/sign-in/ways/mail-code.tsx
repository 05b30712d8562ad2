/** Signs in with a code that is mailed or texted to the user. */
import { useState, type ReactNode } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import { InlineButton } from '#client/ui/button.tsx';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { SentCodeForm } from '#client/ui/form/code-form.tsx';
import { EmailForm } from '../account-fields.tsx';
import { OtherWays, type WayFrame, type WayProps } from '../sign-in-layout.tsx';
import { phoneOutcome, PhoneForm } from '#client/ui/form/phone-form.tsx';

export function MailCode({ frame: Frame, address, onBack }: WayProps) {
  const auth = useAuth();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const back = <OtherWays onBack={onBack} />;

  if (sentTo === null) {
    return (
      <Frame
        key="address"
        title="Sign in with a code"
        lead="We email you a code that works once. You need no password."
        footer={back}
      >
        <EmailForm
          address={address}
          submitLabel="Email me a code"
          send={(email) => mailCode(auth, email)}
          onSent={setSentTo}
        />
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

/** Mails a code and a link. The answer does not tell whether the address has an account. */
export const mailCode = (auth: Auth, email: string) =>
  auth.signInWithOtp({
    email,
    // A mistyped address must not create an account.
    options: { shouldCreateUser: false, emailRedirectTo: `${location.origin}${ROUTES.login.path}` },
  });

type MailedCodeProps = {
  frame: WayFrame;
  address: string;
  onRestart: () => void;
  restartLabel: string;
  footer?: ReactNode;
};

/** Takes the code of the mail, and sends the mail again. */
export function MailedCode({ frame: Frame, address, onRestart, restartLabel, footer }: MailedCodeProps) {
  const auth = useAuth();
  return (
    <Frame
      title="Check your email"
      lead={
        <>
          If <strong>{address}</strong> has an account, we sent it an email. Enter the code here, or open the link in
          it.
        </>
      }
      footer={footer}
    >
      <SentCodeForm
        layout="page"
        tone="primary"
        submitLabel="Sign in"
        check={async (token) => {
          // The user entered the code here, so no login CSRF is possible: store the session, and the guard redirects.
          const { error } = await auth.verifyOtp({ email: address, token, type: 'email' });
          if (!error) rememberWay('mailCode');
          return { error };
        }}
        send={() => mailCode(auth, address)}
        help={
          <p>
            No email? Check your spam folder, or <InlineButton onClick={onRestart}>{restartLabel}</InlineButton>.
          </p>
        }
      />
    </Frame>
  );
}

/** Signs in with a code that is texted to the user's phone. */
export function PhoneCode({ frame: Frame, phone: known, onBack }: WayProps) {
  const auth = useAuth();
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
