/** Adds, changes and removes the phone number that texted codes sign in with (docs/specification/accounts.md 7). */
import { useState } from 'react';
import { createMemoryAuth } from '#client/lib/api/auth-client.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { SentCodeForm } from '#client/ui/form/code-form.tsx';
import { phoneOutcome, phoneProblem, PhoneForm } from '#client/ui/form/phone-form.tsx';
import { Buttons, Hint } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { RemoveIdentity } from './linked-panel.tsx';
import { useLinkedSignIns, confirmedPhone } from './linked-sign-ins.ts';
import { PanelView, type PanelProps } from './panel.tsx';
import { useRecentSignIn } from './prove-identity.tsx';

export function PhonePanel({ onClose }: PanelProps) {
  const current = confirmedPhone(useUser());
  const [view, setView] = useState<'number' | 'form' | { sentTo: string }>('number');
  if (typeof view === 'object') {
    return (
      <CodeStep
        key="code"
        {...view}
        onConfirmed={() => setView('number')}
        onRestart={() => setView('form')}
        onCancel={current === null ? onClose : () => setView('number')}
      />
    );
  }
  if (view === 'number' && current !== null) {
    return <CurrentNumber key="number" onChange={() => setView('form')} />;
  }
  return (
    <NumberForm
      key="form"
      current={current}
      onSent={(sentTo) => setView({ sentTo })}
      onCancel={current === null ? null : () => setView('number')}
    />
  );
}

function CurrentNumber({ onChange }: { onChange: () => void }) {
  const { identities, canRemove } = useLinkedSignIns();
  const identity = identities.find(({ provider }) => provider === 'phone');
  const [isRemoving, setRemoving] = useState(false);
  return (
    <PanelView>
      <p>To sign in with this number, choose “Text me a code” on the sign-in page.</p>
      <Buttons>
        <Button onClick={onChange}>Change the number</Button>
        {identity && canRemove && <Button onClick={() => setRemoving(true)}>Remove the number</Button>}
      </Buttons>
      {identity && identities.length === 1 && <Hint>It is your only way to sign in, so it cannot be removed.</Hint>}
      {identity && isRemoving && <RemoveIdentity identity={identity} onClose={() => setRemoving(false)} />}
    </PanelView>
  );
}

type NumberFormProps = { current: string | null; onSent: (phone: string) => void; onCancel: (() => void) | null };

function NumberForm({ current, onSent, onCancel }: NumberFormProps) {
  const auth = useAuth();
  const { new_phone: pending } = useUser();
  const { applyChange, dialog } = useRecentSignIn();
  const send = async (phone: string): Promise<Outcome> => {
    if (phone === current) return phoneProblem('This is your number already.');
    const { error } = await applyChange<unknown>((nonce) => auth.updateUser({ phone, ...(nonce !== '' && { nonce }) }));
    if (error === 'cancelled') return null;
    // The server sends one text a minute to a number, and the code of the last one may still be on its way.
    const isSentAlready = error?.code === 'over_sms_send_rate_limit' && phone === `+${pending}`;
    if (error && !isSentAlready) return phoneOutcome(error);
    onSent(phone);
    return null;
  };
  return (
    <PanelView title={current === null ? undefined : 'Change your phone number'}>
      {current === null ? (
        <p>
          Add a phone number to sign in with a code that we text you. Choose a number whose texts nobody else can read.
        </p>
      ) : (
        <p>
          Until you enter the code that we text to the new number, <strong>{current}</strong> stays.
        </p>
      )}
      <PhoneForm
        label={current === null ? 'Phone number' : 'New phone number'}
        autoFocus={current !== null}
        send={send}
      />
      {onCancel && (
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      )}
      {dialog}
    </PanelView>
  );
}

type CodeStepProps = { sentTo: string; onConfirmed: () => void; onRestart: () => void; onCancel: () => void };

function CodeStep({ sentTo, onConfirmed, onRestart, onCancel }: CodeStepProps) {
  const supabase = useSupabase();
  const auth = useAuth();
  const user = useUser();
  const toast = useToast();
  const send = async () => {
    // Threat: a stranger requests a code to this number. `resend` could send the stranger's code again, so request a
    // new one.
    const { error } = await auth.updateUser({ phone: sentTo });
    // With a session older than a day, `updateUser` asks for a confirmation, which the user gave for the first code.
    // `resend` needs none.
    return error?.code === 'reauthentication_needed' ? auth.resend({ type: 'phone_change', phone: sentTo }) : { error };
  };
  return (
    <PanelView title="Enter the code">
      <p>
        We texted a code to <strong>{sentTo}</strong>. It works for one minute.
      </p>
      <SentCodeForm
        source="text"
        tone="primary"
        submitLabel="Confirm the number"
        check={async (token) => {
          // The code starts a session that has passed no second step. In memory, so that the page keeps its session.
          const codeAuth = createMemoryAuth(supabase);
          const { data, error } = await codeAuth.verifyOtp({ phone: sentTo, token, type: 'phone_change' });
          if (error?.code === 'phone_exists') return { outcome: { kind: 'error', text: UNUSABLE } };
          if (error) return { error };
          await codeAuth.signOut({ scope: 'local' });
          // Threat: a stranger asks for a code to this user's number. That code, typed here, adds the number to the
          // stranger's account, so tell the user.
          if (data.user?.id !== user.id) return { outcome: { kind: 'error', text: FOREIGN_CODE } };
          await auth.refreshSession();
          const isFirst = confirmedPhone(user) === null;
          const text = isFirst ? 'Texted codes can now sign you in.' : 'Your phone number was changed.';
          toast({ kind: 'success', text });
          onConfirmed();
          return { outcome: null };
        }}
        send={send}
      />
      <Buttons>
        <Button onClick={onRestart}>Use another number</Button>
        <Button tone="text" onClick={onCancel}>
          Cancel
        </Button>
      </Buttons>
    </PanelView>
  );
}

const UNUSABLE = "This number can't be added to your account. Use another number.";
const FOREIGN_CODE = 'This code was not for your account. Use another number, or contact us if this number is yours.';
