/** Signs in with a passkey. With `hasAutofill`, the autofill of the page's email field offers passkeys too. */
import { useEffect, useState } from 'react';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './sign-in-ways.module.css';

const loadPasskeys = () => import('./passkey-sign-in.ts');

type PasskeyButtonProps = {
  hasAutofill?: boolean;
  /** Whether passkeys are the way to offer first. */
  isFirst?: boolean;
};

export function PasskeyButton({ hasAutofill = true, isFirst = false }: PasskeyButtonProps) {
  const { auth } = useSupabase();
  const { captcha } = useClientConfig().signIn;
  const [isOffered, setOffered] = useState(true);
  const [autofillOutcome, setAutofillOutcome] = useState<Outcome>(null);

  useEffect(() => {
    // The offer would show the captcha, which must not appear before the user does anything.
    if (!hasAutofill || !isOffered || captcha) return;
    let isEnded = false;
    let endOffer = (): void => void (isEnded = true);
    void loadPasskeys().then(
      ({ offerPasskeysInAutofill }) => void (isEnded || (endOffer = offerPasskeysInAutofill(auth, setAutofillOutcome))),
      () => undefined,
    );
    return () => endOffer();
  }, [auth, captcha, hasAutofill, isOffered]);

  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { signInWithPasskey } = await loadPasskeys();
    const result = await signInWithPasskey(auth);
    setOffered(true);
    return result;
  });
  const shown = autofillOutcome ?? outcome;
  return (
    <form
      className={styles.way}
      onSubmit={(event) => {
        setOffered(false);
        setAutofillOutcome(null);
        onSubmit(event);
      }}
    >
      {shown && <Notice kind={shown.kind}>{shown.text}</Notice>}
      {/* Not "Sign in with a passkey": only the button of the password form is named "Sign in". */}
      <Button
        tone={isFirst ? 'primary' : 'plain'}
        data-autofocus={isFirst || undefined}
        type="submit"
        busy={busy}
        busyLabel="Waiting..."
      >
        Use a passkey
      </Button>
    </form>
  );
}
