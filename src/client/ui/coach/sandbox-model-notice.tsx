/** Says that an answer is the sandbox's own, where it is: nobody shall take it for what a real model would say. */
import { useClientConfig } from '#client/lib/api/supabase.ts';
import styles from './coach-consent.module.css';

export function SandboxModelNotice() {
  const { sandboxModel } = useClientConfig();
  if (!sandboxModel) return null;
  return (
    <p className={styles.sandbox}>
      Sandbox: the answers come from the sandbox's own model, which is no AI. Nothing leaves this machine.
    </p>
  );
}
