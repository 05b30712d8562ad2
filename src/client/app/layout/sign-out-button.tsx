/** Signs out on all devices. When the server is unreachable, offers to sign out on this device only. */
import { MESSAGES } from '#domain/messages.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SignOutDialog } from '#client/ui/sign-out-dialog.tsx';
import styles from './sidebar.module.css';

export function SignOutButton() {
  const signingOut = useSignOut();
  const { busy, question, unreachable, start } = signingOut;
  return (
    <>
      {unreachable && (
        <div className={styles.stuck}>
          <Notice kind="error">{MESSAGES.serverUnreachable}</Notice>
          <Button onClick={() => start('local')}>Sign out on this device only</Button>
        </div>
      )}
      <Button busy={busy !== null && question === null} busyLabel="Logging out..." onClick={() => start('global')}>
        Logout
      </Button>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}
