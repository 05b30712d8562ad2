/** The click that makes a mail's link count: confirms a new account, or a changed address. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSession } from '#client/lib/session.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import { useSubmit } from '#client/lib/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { AccountLayout } from './account-layout.tsx';
import type { MailLink } from './mail-link.ts';
import styles from './account.module.css';

export function ConfirmLink({ link }: { link: MailLink }) {
  const { auth } = useSupabase();
  const { status } = useSession();
  const toast = useToast();
  const navigate = useNavigate();
  const [half, setHalf] = useState(false);
  const isMove = link.type === 'email_change';
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { data, error } = await auth.verifyOtp({ token_hash: link.tokenHash, type: link.type });
    if (error)
      return { kind: 'error', text: error.code === 'otp_expired' ? MESSAGES.signInLinkInvalid : MESSAGES.unexpected };
    // A change of address asks both mailboxes; the first answer opens no session.
    if (!data.session) setHalf(true);
    else if (isMove) {
      toast({ kind: 'success', text: 'Your email address is changed.' });
      await navigate({ to: ROUTES.profile.path, replace: true });
    } else await navigate({ to: ROUTES.journal.path, replace: true });
    return null;
  });

  const on =
    status === 'signedIn'
      ? { to: ROUTES.journal.path, label: 'Open your journal' }
      : { to: ROUTES.login.path, label: 'Sign in' };
  const title = isMove ? 'Confirm your new address' : 'Confirm your email address';
  // Both mailboxes get such a link, and the link does not say which of the two this is.
  const lead = isMove
    ? 'Both of your addresses must agree. This is one of them.'
    : 'One click, and the address is yours.';

  if (half || outcome?.kind === 'error') {
    return (
      <AccountLayout title={half ? 'One link to go' : title}>
        <div className={styles.notice}>
          <Notice kind={half ? 'success' : 'error'}>{half ? MESSAGES.firstLinkAccepted : outcome?.text}</Notice>
          <Link to={on.to} replace>
            {on.label}
          </Link>
        </div>
      </AccountLayout>
    );
  }
  return (
    <AccountLayout title={title} lead={lead}>
      <form className={styles.form} onSubmit={onSubmit}>
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Confirming...">
          Confirm
        </Button>
      </form>
    </AccountLayout>
  );
}
