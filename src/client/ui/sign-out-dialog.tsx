/** Asks what to do with unsaved text before a sign-out, which deletes the text from this browser. */
import type { ReactNode } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import { useSession } from '#client/lib/session/session.ts';
import type { SignOutFlow } from '#client/lib/session/use-sign-out.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import styles from './dialog.module.css';

/** Renders nothing while `signingOut` has no question for the user. */
export function SignOutDialog({ signingOut }: { signingOut: SignOutFlow }) {
  const { busy, question, retrySend, discard, cancel } = signingOut;
  const { expired } = useSession();
  if (!question) return null;
  const { days, documents, scope, problem } = question;
  const scopeSuffix = scope === 'local' && !expired ? ' on this device only' : '';
  return (
    <UnsavedDaysDialog
      title="You have unsaved text"
      intro="This text is not saved to your account:"
      days={days}
      texts={documents.map((id) => (
        <Link key={id} to={`${ROUTES.wins.path}?document=${id}`} onClick={cancel}>
          Wins document
        </Link>
      ))}
      why={`If you discard this text, it is gone for good. What is saved stays in your account.${
        documents.length === 0 ? '' : ' Open a document with a connection to save it.'
      }`}
      problem={problem && (problem === 'unreachable' ? MESSAGES.serverUnreachable : notSentText(expired))}
      onClose={cancel}
    >
      <Button
        tone="primary"
        data-autofocus
        busy={busy === 'sending'}
        busyLabel="Saving..."
        softDisabled={busy === 'signingOut'}
        onClick={retrySend}
      >
        Save and sign out
      </Button>
      <Button
        busy={busy === 'signingOut'}
        busyLabel="Signing out..."
        softDisabled={busy === 'sending'}
        onClick={discard}
      >
        Discard and sign out{scopeSuffix}
      </Button>
      <Button tone="text" softDisabled={busy === 'signingOut'} onClick={cancel}>
        Cancel
      </Button>
    </UnsavedDaysDialog>
  );
}

type UnsavedDaysDialogProps = {
  title: string;
  intro: string;
  days: readonly Day[];
  /** List items for unsaved texts that are not logs. */
  texts?: readonly ReactNode[];
  why: string;
  problem?: string | null;
  onClose: () => void;
  /** The buttons. */
  children: ReactNode;
};

/** Lists text that only this browser has, and asks what to do with it. */
export function UnsavedDaysDialog({
  title,
  intro,
  days,
  texts = [],
  why,
  problem,
  onClose,
  children,
}: UnsavedDaysDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{intro}</p>
      <ul className={styles.days}>
        {days.map((date) => (
          <li key={date}>{dayLabel(date)}</li>
        ))}
        {texts.map((text, index) => (
          <li key={index}>{text}</li>
        ))}
      </ul>
      <p className={styles.why}>{why}</p>
      {problem && (
        <div className={styles.problem}>
          <Notice kind="error">{problem}</Notice>
        </div>
      )}
      <div className={styles.choices}>{children}</div>
    </Dialog>
  );
}

function notSentText(expired: boolean): string {
  if (!navigator.onLine) return "You are offline, so the text couldn't be saved. Connect and try again.";
  if (expired) return "Your session has ended, so the text couldn't be saved. Cancel and sign in again to save it.";
  return "The text couldn't be saved. Try again, or cancel and open the day to see why.";
}
