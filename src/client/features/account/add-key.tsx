/** Adds a security key that confirms each sign-in. */
import { providerMessage } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PanelView } from './panel-view.tsx';
import { toOutcome } from './recent-sign-in.tsx';
import { createRecoveryCodes, findUnusedName, useEnrolment, type AddFactorProps } from './enrolment.ts';
import styles from './security.module.css';

export function AddKey({ factors, onAdded, onCancel }: AddFactorProps) {
  const { auth } = useSupabase();
  const { dialog, enrol } = useEnrolment();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const name = findUnusedName('Security key', factors);
    const { error, factor } = await enrol({ factor_type: 'webauthn', friendly_name: name });
    if (error) return toOutcome(error);
    // For an unverified factor the server sends a registration challenge, so `authenticate` registers the key.
    const { error: failed } = await auth.mfa.webauthn.authenticate({ factorId: factor!.id });
    if (failed) {
      // Best effort: the server deletes an unverified factor after a day.
      void auth.mfa.unenroll({ factorId: factor!.id });
      return failed.name === 'NotAllowedError' || failed.name === 'InvalidStateError'
        ? { kind: 'error', text: 'No security key was added. Try again.' }
        : { kind: 'error', text: providerMessage(failed) };
    }
    onAdded(await createRecoveryCodes(auth));
    return null;
  });
  return (
    <PanelView title="Add a security key">
      {dialog}
      <p>Plug the key in or hold it ready. Your browser asks for it.</p>
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <Button tone="primary" type="submit" busy={busy} busyLabel="Waiting for your key..." autoFocus>
          Add the key
        </Button>
      </form>
      <Button tone="text" onClick={onCancel}>
        Cancel
      </Button>
    </PanelView>
  );
}
