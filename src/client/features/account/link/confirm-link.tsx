/** What a link of a mail does here: it names the account and signs nobody in before a click. */
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { MESSAGES, providerMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { AccountLayout } from '../account-layout.tsx';
import { BrokenLink } from './broken-link.tsx';
import type { MailLink } from './mail-link.ts';
import { SignedInAs } from '../signed-in-as.tsx';
import { adoptSession, useProof } from './use-proof.ts';
import type { Proof } from './use-proof.ts';
import styles from '../account.module.css';

type ConfirmLinkProps = {
  link: MailLink;
  /** Takes the link away: the sign-in form stands in its place. */
  onDrop: () => void;
};

const SIGN_IN = { title: 'Sign in', lead: 'This link signs you in.' };
const ADDRESS = { title: 'Confirm your email address', lead: 'Click to confirm that this address is yours.' };
const TEXTS: Readonly<Record<string, typeof SIGN_IN>> = {
  signup: ADDRESS,
  email: ADDRESS,
  email_change: {
    title: 'Confirm your new address',
    // Both mailboxes get such a link, and the link does not say which of the two this is.
    lead: 'We sent a link to both of your addresses. Your address changes once you have confirmed both.',
  },
};

export function ConfirmLink({ link, onDrop }: ConfirmLinkProps) {
  const { auth } = useSupabase();
  const { user } = useSession();
  const toast = useToast();
  const navigate = useNavigate();
  const state = useProof(link);
  const type = 'type' in link ? link.type : 'magiclink';
  const isMove = type === 'email_change';
  const { title, lead } = TEXTS[type] ?? SIGN_IN;

  const leave = async (path: typeof ROUTES.journal.path | typeof ROUTES.profile.path): Promise<void> => {
    await navigate({ to: path, replace: true });
    onDrop();
  };
  const adopt = async (proof: Proof): Promise<Outcome> => {
    const error = await adoptSession(auth, proof);
    if (error) return { kind: 'error', text: providerMessage(error) };
    if (isMove) toast({ kind: 'success', text: 'Your email address is changed.' });
    await leave(isMove ? ROUTES.profile.path : ROUTES.journal.path);
    return null;
  };
  const goOn = (): void => void (user ? leave(ROUTES.journal.path) : onDrop());

  switch (state.step) {
    case 'checking':
      return <AccountLayout title={title} lead="Checking your link..." />;
    case 'refused':
      return <BrokenLink text={state.text} onForward={goOn} />;
    case 'halfDone':
      return (
        <AccountLayout title="One link to go">
          <div className={styles.notice}>
            <Notice kind="success">{MESSAGES.firstLinkAccepted}</Notice>
            <Button onClick={goOn}>{user ? 'Open your journal' : 'Sign in'}</Button>
          </div>
        </AccountLayout>
      );
    case 'waiting':
      return (
        <AgreeForm
          title={title}
          lead={
            <>
              <p className={styles.lead}>{lead}</p>
              <SignedInAs />
            </>
          }
          label={link.kind === 'tokens' ? 'Try again' : 'Confirm'}
          busyLabel="Confirming..."
          // One click is enough for the account that is signed in already.
          onAgree={() => state.open((proof) => (proof.user.id === user?.id ? adopt(proof) : null))}
        />
      );
    case 'proven': {
      const { proof } = state;
      const refuse = (): void => {
        // Ends it on the server as well. Whatever the answer, nothing of it is stored here.
        void proof.auth.signOut({ scope: 'local' });
        goOn();
      };
      return (
        <AgreeForm
          title={link.kind === 'hash' && type === 'signup' ? 'Your address is confirmed' : 'Sign in'}
          lead={
            <>
              <p className={styles.lead}>
                This link signs you in as <strong>{proof.user.email}</strong>. Continue only if this account is yours.
              </p>
              <SignedInAs />
            </>
          }
          label="Continue"
          busyLabel="Signing in..."
          onAgree={() => adopt(proof)}
        >
          <Button tone="text" onClick={refuse}>
            {user ? `Stay signed in as ${user.email}` : 'Do not sign in'}
          </Button>
        </AgreeForm>
      );
    }
  }
}

type AgreeFormProps = {
  title: string;
  lead: ReactNode;
  label: string;
  busyLabel: string;
  onAgree: () => Promise<Outcome>;
  children?: ReactNode;
};

function AgreeForm({ title, lead, label, busyLabel, onAgree, children }: AgreeFormProps) {
  const { outcome, busy, onSubmit } = useSubmit(() => onAgree());
  return (
    <AccountLayout title={title}>
      {lead}
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel={busyLabel}>
          {label}
        </Button>
        {children}
      </form>
    </AccountLayout>
  );
}
