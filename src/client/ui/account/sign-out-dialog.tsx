/** Asks what shall become of unsent words before a user signs out, because signing out wipes them from this browser. */
import { dayLabel } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { useSession } from '#client/lib/session/session.ts';
import type { SignOutFlow } from '#client/lib/session/use-sign-out.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { Notice } from '../notice.tsx';
import styles from './sign-out-dialog.module.css';

/** Shows nothing while there is nothing to ask. */
export function SignOutDialog({ signingOut }: { signingOut: SignOutFlow }) {
  const { busy, question, sendAgain, discard, stay } = signingOut;
  const { expired } = useSession();
  if (!question) return null;
  const { days, scope, problem } = question;
  const onlyHere = scope === 'local' && !expired ? ' on this device only' : '';
  return (
    <Dialog title="Some words were not sent" onClose={stay}>
      <p>What you wrote on {days.length === 1 ? 'this day' : 'these days'} is only in this browser:</p>
      <ul className={styles.days}>
        {days.map((date) => (
          <li key={date}>{dayLabel(date)}</li>
        ))}
      </ul>
      <p className={styles.why}>
        If you discard these words, they are gone for good. Your saved logs stay in your account.
      </p>
      {problem && (
        <div className={styles.problem}>
          <Notice kind="error">{problem === 'unreachable' ? MESSAGES.serverUnreachable : whyNotSent(expired)}</Notice>
        </div>
      )}
      <div className={styles.choices}>
        <Button
          tone="primary"
          data-autofocus
          busy={busy === 'sending'}
          busyLabel="Sending..."
          softDisabled={busy === 'leaving'}
          onClick={sendAgain}
        >
          Send and sign out
        </Button>
        <Button
          busy={busy === 'leaving'}
          busyLabel="Signing out..."
          softDisabled={busy === 'sending'}
          onClick={discard}
        >
          Discard and sign out{onlyHere}
        </Button>
        <Button tone="text" softDisabled={busy === 'leaving'} onClick={stay}>
          Stay
        </Button>
      </div>
    </Dialog>
  );
}

function whyNotSent(expired: boolean): string {
  if (!navigator.onLine) return 'You are offline, so they could not be sent. Connect and try again.';
  if (expired) return 'Your session has ended, so they could not be sent. Stay, and sign in again to send them.';
  return 'They could not be sent. Try again, or stay and open the day to see why.';
}
