/** Name, email address and password, and a change of the email address that is not confirmed yet. */
import { useEffect, useRef, useState, type RefObject } from 'react';
import CircleCheck from 'lucide-react/icons/circle-check';
import { MESSAGES, isSessionGone, providerMessage } from '#domain/messages.ts';
import {
  EMAIL_MAX_LENGTH,
  EMAIL_PROBLEM,
  NAME_PATTERN,
  passwordMessage,
  validateProfile,
} from '#domain/account/account.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useAccountFacts, useOwnAccount, type AddressChange } from '#client/lib/api/own-account.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useUser, accountName, useSession, isSsoUser } from '#client/lib/session/session.ts';
import { Section } from '#client/ui/page/page.tsx';
import { useSubmit, textOf, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm, ResendForm } from '#client/ui/form/code-form.tsx';
import { Form, SubmitButton, Field, PasswordField } from '#client/ui/form/form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Buttons, Hint, Stack } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { useRecentSignIn } from './prove-identity.tsx';
import styles from './account.module.css';

export function DetailsSection() {
  const auth = useAuth();
  const { email, new_email: storedNext } = useUser();
  const { data, isPlaceholderData, refetch } = useAccountFacts();
  const { fallbackRef, areaProps } = useFocusRestore();
  const emailField = useRef<HTMLInputElement>(null);
  const change = data?.address_change ?? null;
  // True if the stored user is older than a confirmation or a cancellation on another device.
  const isUserStale = data !== undefined && !isPlaceholderData && change?.new_email !== storedNext;
  useEffect(() => {
    if (isUserStale) void auth.refreshSession();
  }, [auth, isUserStale]);

  const correctAddress = (): void => {
    const field = emailField.current;
    if (!field || !change) return;
    field.value = change.new_email;
    field.focus();
    field.select();
  };
  return (
    <Section title="Your details">
      {/* Takes the focus by script only (focus restore), when a focused button disappears with the pending change. */}
      <Stack ref={fallbackRef} stretch tabIndex={-1} role="group" aria-label="Your details" {...areaProps}>
        {change && change.new_email !== email && (
          <PendingAddress change={change} onFirstConfirmed={() => void refetch()} onCorrect={correctAddress} />
        )}
        <ProfileForm hasPassword={data?.has_password !== false} emailField={emailField} />
      </Stack>
    </Section>
  );
}

type PendingAddressProps = {
  change: AddressChange;
  /** Called when one of two addresses is confirmed. */
  onFirstConfirmed: () => void;
  /** Lets the user type another address. */
  onCorrect: () => void;
};

/**
 * A pending change of the email address (docs/specification/accounts.md 7): the addresses that still have to confirm,
 * their codes, and ways to repeat, correct or cancel it.
 */
function PendingAddress({ change, onFirstConfirmed, onCorrect }: PendingAddressProps) {
  const auth = useAuth();
  const { email = '', email_change_sent_at: sentAt } = useUser();
  const { new_email: next, unconfirmed } = change;
  const addresses = email === '' ? [next] : [email, next];
  return (
    <div className={styles.change}>
      <Notice kind="info">
        {unconfirmed.length > 1 ? (
          <>
            To change your email address to <strong>{next}</strong>, open the links that we sent to both addresses, or
            enter the codes here.
          </>
        ) : (
          <>
            To finish the change of your email address, open the link that we sent to <strong>{unconfirmed[0]}</strong>,
            or enter its code here.
          </>
        )}
        {email !== '' && (
          <>
            {' '}
            Until then, sign in with <strong>{email}</strong>.
          </>
        )}
      </Notice>
      {addresses.map((address) =>
        unconfirmed.includes(address) ? (
          <AddressCode key={address} address={address} onFirstConfirmed={onFirstConfirmed} />
        ) : (
          <p key={address} className={styles.confirmed}>
            <CircleCheck aria-hidden />
            Confirmed: {address}
          </p>
        ),
      )}
      <ResendForm
        // A new key restarts the countdown: the server limits mails from the time of the latest one.
        key={`${next} ${sentAt}`}
        gap="s3"
        sentAt={sentAt === undefined ? undefined : Date.parse(sentAt)}
        send={() => (email === '' ? auth.updateUser({ email: next }) : auth.resend({ type: 'email_change', email }))}
        sentText={unconfirmed.length > 1 ? 'We sent both emails again.' : 'We sent the email again.'}
      />
      <Buttons>
        <Button onClick={onCorrect}>Use another address</Button>
        <CancelForm email={email} />
      </Buttons>
    </div>
  );
}

function AddressCode({ address, onFirstConfirmed }: { address: string; onFirstConfirmed: () => void }) {
  const auth = useAuth();
  const toast = useToast();
  return (
    <CodeForm
      gap="s2"
      label={`Code sent to ${address}`}
      check={async (token) => {
        const { data, error } = await auth.verifyOtp({ email: address, token, type: 'email_change' });
        if (error) return { error };
        const text = data.session ? 'Your email address was changed.' : MESSAGES.firstCodeAccepted;
        toast({ kind: 'success', text });
        if (!data.session) onFirstConfirmed();
        return { outcome: null };
      }}
    />
  );
}

function CancelForm({ email }: { email: string }) {
  const auth = useAuth();
  const account = useOwnAccount();
  const toast = useToast();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    await account.cancelAddressChange();
    toast({ kind: 'success', text: email === '' ? 'No address was added.' : `You keep ${email}.` });
    // Refreshes the stored user, which still has the new address.
    await auth.refreshSession();
    return null;
  });
  return (
    <form onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Button type="submit" busy={busy} busyLabel="Cancelling...">
        Cancel the change
      </Button>
    </form>
  );
}

const ADDRESS_PENDING = 'Saved. Follow the steps above to change your email address.';

type ProfileFormProps = { hasPassword: boolean; emailField: RefObject<HTMLInputElement | null> };

/** Name, address and password in one form (docs/specification/accounts.md 7). */
function ProfileForm({ hasPassword, emailField }: ProfileFormProps) {
  const { renewOrEndSession } = useSupabase();
  const auth = useAuth();
  const { expired } = useSession();
  const user = useUser();
  const now = { name: accountName(user), email: user.email ?? '' };
  const isSso = isSsoUser(user);
  const { applyChange, dialog } = useRecentSignIn();
  /** Incremented after a password change: a new key clears the fields. */
  const [passwordsKey, setPasswordsKey] = useState(0);

  const { outcome, busy, onSubmit } = useSubmit(async (data) => {
    const form = {
      name: textOf(data, 'name').trim(),
      email: textOf(data, 'email').trim(),
      password: textOf(data, 'password'),
      confirmation: textOf(data, 'confirmation'),
    };
    const problem = validateProfile(form, now);
    if (problem) return { kind: 'error', text: problem };

    const { error } = await applyChange<unknown>((nonce) =>
      auth.updateUser({
        ...(form.name === now.name ? {} : { data: { name: form.name } }),
        ...(form.email === now.email ? {} : { email: form.email }),
        ...(form.password === '' ? {} : { password: form.password }),
        ...(nonce === '' ? {} : { nonce }),
      }),
    );
    if (error === 'cancelled') return null;
    if (error) {
      if (isSessionGone(error)) await renewOrEndSession();
      return { kind: 'error', text: passwordMessage(error, providerMessage) };
    }

    if (form.password !== '') setPasswordsKey((count) => count + 1);
    // The address of an anonymous user may change at once, so no confirmation is announced.
    const isPending = form.email !== now.email && !user.is_anonymous;
    return { kind: 'success', text: isPending ? ADDRESS_PENDING : MESSAGES.profileUpdated };
  });

  // A new key creates a new element: screen readers do not announce an element that shows the same text again.
  const [banner, setBanner] = useState({ outcome, key: 0 });
  if (banner.outcome !== outcome) setBanner({ outcome, key: banner.key + 1 });

  // Hides "No user is signed in" after the user has signed in again, and the note about a pending address once no
  // change is pending.
  const isResolved =
    (outcome?.text === MESSAGES.notSignedIn && !expired) || (outcome?.text === ADDRESS_PENDING && !user.new_email);

  return (
    <>
      <Form onSubmit={onSubmit}>
        {outcome && !isResolved && <Banner key={banner.key} outcome={outcome} />}
        <Field
          label="Full Name"
          name="name"
          autoComplete="name"
          defaultValue={now.name}
          required
          pattern={NAME_PATTERN}
          invalidText="Enter your name"
        />
        {/* A new key resets the field to the current address when a change begins, is confirmed or is cancelled. */}
        <Field
          key={`${now.email} ${user.new_email}`}
          ref={emailField}
          label="Email Address"
          name="email"
          type="email"
          autoComplete="email"
          autoCapitalize="none"
          maxLength={EMAIL_MAX_LENGTH}
          defaultValue={now.email}
          required
          invalidText={EMAIL_PROBLEM}
          readOnly={isSso}
          hint={isSso && 'You sign in through your company, which manages this address.'}
        />
        {!isSso && (
          <fieldset key={passwordsKey} className={styles.passwords}>
            <legend>{hasPassword ? 'Change Password' : 'Set a password'}</legend>
            <Hint>
              {hasPassword
                ? 'Leave blank to keep your current password'
                : 'Optional: with a password you can also sign in by email.'}
            </Hint>
            <PasswordField
              label="New Password"
              name="password"
              autoComplete="new-password"
              placeholder="New password (min. 6 characters)"
            />
            <PasswordField label="Confirm New Password" name="confirmation" autoComplete="new-password" />
          </fieldset>
        )}
        <SubmitButton busy={busy} busyLabel="Updating...">
          Update Profile
        </SubmitButton>
      </Form>
      {dialog}
    </>
  );
}

/** The outcome above the fields. The button is below them, so a new banner scrolls into view. */
function Banner({ outcome }: { outcome: NonNullable<Outcome> }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In braces: some browsers return a promise, which React would take for a clean-up function.
    element.current?.scrollIntoView({ block: 'center' });
  }, []);
  return (
    <div ref={element}>
      <Notice kind={outcome.kind}>{outcome.text}</Notice>
    </div>
  );
}
