/** Somebody signed in where another user's words were never sent: that user alone can send them, anybody can discard them. */
import { useState } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import { daysOfDrafts, draftsOfOthers } from '#client/sync/day-drafts.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { SignOutDialog } from '#client/ui/account/sign-out-dialog.tsx';
import styles from '#client/ui/account/sign-out-dialog.module.css';

export function UnsentOfOthers({ onClose }: { onClose: () => void }) {
  const { id } = useUser();
  const signingOut = useSignOut();
  const [days] = useState(() => daysOfDrafts(draftsOfOthers(localStorage, id)));
  const discard = (): void => {
    for (const key of draftsOfOthers(localStorage, id)) localStorage.removeItem(key);
    onClose();
  };
  return (
    <Dialog title="Another account has unsent words here" onClose={onClose}>
      <p>Somebody else wrote in this browser. Their words on these days were never sent:</p>
      <ul className={styles.days}>
        {days.map((date) => (
          <li key={date}>{dayLabel(date)}</li>
        ))}
      </ul>
      <p className={styles.why}>
        To send them, sign in to that account. Until then, anybody who uses this browser can read them.
      </p>
      <div className={styles.choices}>
        <Button
          tone="primary"
          data-autofocus
          busy={signingOut.busy !== null}
          busyLabel="Signing out..."
          onClick={() => signingOut.start('local')}
        >
          Sign out to send them
        </Button>
        <Button onClick={discard}>Discard them</Button>
        <Button tone="text" onClick={onClose}>
          Keep them for now
        </Button>
      </div>
      <SignOutDialog signingOut={signingOut} />
    </Dialog>
  );
}
