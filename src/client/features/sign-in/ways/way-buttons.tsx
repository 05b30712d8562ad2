/** The ways to sign in besides a password, on the sign-in page and in the overlay of an expired session. */
import { useEffect, useState, type ReactNode } from 'react';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { lazyChunk } from '#client/ui/lazy-chunk.ts';
import styles from './sign-in-ways.module.css';

const loadPasskeys = () => import('./passkey-sign-in.ts');

type PasskeyButtonProps = {
  hasAutofill?: boolean;
  /** Whether passkeys are the way to offer first. */
  isFirst?: boolean;
};

/** With `hasAutofill`, the autofill of the page's email field offers passkeys too. */
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
  return (
    <Form
      layout="dialog"
      gap="s3"
      outcome={autofillOutcome ?? outcome}
      onSubmit={(event) => {
        setOffered(false);
        setAutofillOutcome(null);
        onSubmit(event);
      }}
    >
      {/* Not "Sign in with a passkey": only the button of the password form is named "Sign in". */}
      <SubmitButton
        tone={isFirst ? 'primary' : 'plain'}
        data-autofocus={isFirst || undefined}
        busy={busy}
        busyLabel="Waiting..."
      >
        Use a passkey
      </SubmitButton>
    </Form>
  );
}

/** The frame around the buttons of the other ways to sign in. */
export function Ways({ children }: { children: ReactNode }) {
  return (
    <section className={styles.ways} aria-label="Other ways to sign in">
      <p className={styles.or} aria-hidden="true">
        or
      </p>
      {children}
    </section>
  );
}

/** The ways to sign in that have a form of their own. */
export const WAY_FORMS = {
  mailCode: lazyChunk(async () => (await import('./mail-code.tsx')).MailCode),
  phoneCode: lazyChunk(async () => (await import('./phone-code.tsx')).PhoneCode),
  wallet: lazyChunk(async () => (await import('./wallet.tsx')).Wallet),
};

export const WAY_LABELS = {
  mailCode: 'Email me a code',
  phoneCode: 'Text me a code',
  wallet: 'Continue with a wallet',
} as const;
