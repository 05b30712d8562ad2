/** Name, email address and password, and a change of the email address that is not confirmed yet. */
import { useEffect, useRef } from 'react';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useAccountFacts } from '#client/lib/api/use-account-facts.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Section } from '#client/ui/page/page.tsx';
import { PendingAddress } from './pending-address.tsx';
import { ProfileForm } from './profile-form.tsx';
import styles from './details.module.css';

export function DetailsSection() {
  const { auth } = useSupabase();
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
      {/* Takes the focus by script only (focus restore), when the focused button disappears with the pending change. */}
      <div
        ref={fallbackRef}
        className={styles.area}
        tabIndex={-1}
        role="group"
        aria-label="Your details"
        {...areaProps}
      >
        {change && change.new_email !== email && (
          <PendingAddress change={change} onFirstConfirmed={() => void refetch()} onCorrect={correctAddress} />
        )}
        <ProfileForm hasPassword={data?.has_password !== false} emailField={emailField} />
      </div>
    </Section>
  );
}
