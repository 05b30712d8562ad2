/** Logout: everywhere, as long as the server can be told; otherwise it says so and offers this device alone. */
import { useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { useSession } from '#client/lib/session.ts';
import type { SignOutScope } from '#client/lib/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './sidebar.module.css';

export function SignOut() {
  const { signOut } = useSession();
  const [state, setState] = useState<'idle' | 'busy' | 'unreachable'>('idle');

  const leave = async (scope: SignOutScope) => {
    setState('busy');
    const { error } = await signOut(scope);
    // On success the page is already on its way to the landing page.
    if (error) setState('unreachable');
  };

  return (
    <>
      {state === 'unreachable' && (
        <div className={styles.stuck}>
          <Notice kind="error">{MESSAGES.serverUnreachable}</Notice>
          <Button onClick={() => void leave('local')}>Sign out on this device only</Button>
        </div>
      )}
      <Button busy={state === 'busy'} busyLabel="Logging out..." onClick={() => void leave('global')}>
        Logout
      </Button>
    </>
  );
}
