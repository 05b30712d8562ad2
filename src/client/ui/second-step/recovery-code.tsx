/** The second step with one of the recovery codes, for a user who has lost the devices of all other ways. */
import { isWrongCode, recoveryMessage } from '#domain/messages.ts';
import { useSupabase, type Auth } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Field } from '../form/field.tsx';
import { Notice } from '../notice.tsx';
import { useToast } from '../toast.tsx';
import { recoveryNotice } from './recovery-notice.ts';
import styles from './second-step.module.css';

export function RecoveryCode({ auth, onPassed }: { auth: Auth; onPassed: () => void }) {
  const { auth: pageAuth } = useSupabase();
  const toast = useToast();
  /** Shows the number of unused codes in a toast. Best effort: the profile page shows the number too. */
  const showRemaining = async (): Promise<void> => {
    const { data } = await auth.mfa.recoveryCodes.getStatus();
    // During a password reset, `auth` is a client in memory, and the page has no session: no link to the profile page.
    if (data) toast(recoveryNotice(data.remaining, auth === pageAuth));
  };
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const code = textOf(form, 'code').trim();
    if (code === '') return { kind: 'error', text: 'Enter one of your recovery codes.', field: 'code' };
    const { error } = await auth.mfa.recoveryCodes.verify({ code });
    if (error && isWrongCode(error)) {
      return { kind: 'error', text: 'This code is wrong or was already used. Try another one.', field: 'code' };
    }
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    void showRemaining();
    onPassed();
    return null;
  });
  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Field
        label="Recovery code"
        hint="One of the codes that you kept when you turned on two-step verification. Each works once."
        name="code"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        data-autofocus
        required
        error={errorOf('code')}
      />
      <Button tone="primary" type="submit" busy={busy} busyLabel="Checking...">
        Continue
      </Button>
    </form>
  );
}
