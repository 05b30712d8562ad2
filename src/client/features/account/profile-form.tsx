/** Name, address and password in one form (docs/specification/accounts.md 7). */
import { useEffect, useRef, useState, type RefObject } from 'react';
import {
  EMAIL_MAX_LENGTH,
  EMAIL_PROBLEM,
  NAME_PATTERN,
  passwordMessage,
  validateProfile,
} from '#domain/account/account.ts';
import { isSessionGone, MESSAGES, providerMessage } from '#domain/messages.ts';
import { accountName, useSession, useUser } from '#client/lib/session/session.ts';
import { isSsoUser } from '#client/lib/session/sso-user.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Field } from '#client/ui/form/field.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/form/password-field.tsx';
import { useRecentSignIn } from './recent-sign-in.tsx';
import styles from './details.module.css';

const ADDRESS_PENDING = 'Saved. Follow the steps above to change your email address.';

type ProfileFormProps = { hasPassword: boolean; emailField: RefObject<HTMLInputElement | null> };

export function ProfileForm({ hasPassword, emailField }: ProfileFormProps) {
  const { auth, renewOrEndSession } = useSupabase();
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

    const error = await applyChange((nonce) =>
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

  // Screen readers announce only a new element, also when the same text is the outcome again.
  const [banner, setBanner] = useState({ outcome, key: 0 });
  if (banner.outcome !== outcome) setBanner({ outcome, key: banner.key + 1 });

  // Hides "No user is signed in" after the user has signed in again, and the note about a pending address once no
  // change is pending.
  const isResolved =
    (outcome?.text === MESSAGES.notSignedIn && !expired) || (outcome?.text === ADDRESS_PENDING && !user.new_email);

  return (
    <>
      <form className={styles.form} onSubmit={onSubmit}>
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
            <p className={styles.hint}>
              {hasPassword
                ? 'Leave blank to keep your current password'
                : 'Optional: with a password you can also sign in by email.'}
            </p>
            <PasswordField
              label="New Password"
              name="password"
              autoComplete="new-password"
              placeholder="New password (min. 6 characters)"
            />
            <PasswordField label="Confirm New Password" name="confirmation" autoComplete="new-password" />
          </fieldset>
        )}
        <Button tone="primary" type="submit" busy={busy} busyLabel="Updating...">
          Update Profile
        </Button>
      </form>
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
