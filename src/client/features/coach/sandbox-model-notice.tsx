/** Tells users of the sandbox that its simulated model writes the answers. */
import { useClientConfig } from '#client/lib/api/supabase.ts';
import styles from './coach-consent.module.css';

export function SandboxModelNotice() {
  const { sandboxModel } = useClientConfig();
  if (!sandboxModel) return null;
  return (
    <p className={styles.sandbox}>
      Sandbox: a simulated model writes the answers, not an AI. Nothing leaves this machine.
    </p>
  );
}
