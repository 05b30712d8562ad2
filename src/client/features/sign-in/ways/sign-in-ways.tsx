/**
 * The buttons of the other ways to sign in, below the password form. The code of a way loads when the way is used; that
 * of passkeys loads with the button if the autofill offers them.
 */
import { useEffect, useState, type ReactNode } from 'react';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { readLastWay } from '#client/lib/session/last-way.ts';
import { Button } from '#client/ui/button.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { TermsLinks } from '../account-fields.tsx';
import type { WayProps } from '../sign-in-layout.tsx';
import styles from './sign-in-ways.module.css';

const loadPasskeys = () => import('./passkey-sign-in.ts');

type PasskeyButtonProps = {
  hasAutofill?: boolean;
  /** Whether passkeys are the way to offer first. */
  isFirst?: boolean;
};

/** With `hasAutofill`, the autofill of the page's email field offers passkeys too. */
export function PasskeyButton({ hasAutofill = true, isFirst = false }: PasskeyButtonProps) {
  const auth = useAuth();
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

/** The ways whose form the sign-in page and the overlay of an expired session share. */
export const WAY_FORMS = {
  mailCode: lazyChunk(async () => (await import('./mail-code.tsx')).MailCode),
  phoneCode: lazyChunk(async () => (await import('./mail-code.tsx')).PhoneCode),
  wallet: lazyChunk(async () => (await import('./wallet.tsx')).Wallet),
};

export const WAY_LABELS = {
  mailCode: 'Email me a code',
  phoneCode: 'Text me a code',
  wallet: 'Continue with a wallet',
} as const;

const FORMS = { ...WAY_FORMS, sso: lazyChunk(async () => (await import('./sso.tsx')).Sso) };
const LABELS = { ...WAY_LABELS, sso: 'Single sign-on' } as const;
export type WayForm = keyof typeof FORMS;

/** The form of a way that needs more than a button. */
export function WayFormView({ form, ...way }: WayProps & { form: WayForm }) {
  switch (form) {
    case 'mailCode':
      return <FORMS.mailCode.View {...way} />;
    case 'phoneCode':
      return <FORMS.phoneCode.View {...way} />;
    case 'sso':
      return <FORMS.sso.View {...way} />;
    case 'wallet':
      return <FORMS.wallet.View {...way} />;
  }
}

type SignInWaysProps = {
  onOpen: (form: WayForm) => void;
  /** The page that redirected to the sign-in. */
  returnPath: string | undefined;
};

export function SignInWays({ onOpen, returnPath }: SignInWaysProps) {
  const { signIn } = useClientConfig();
  const openChunk = useOpenChunk();
  const formButton = (form: WayForm) => (
    <Button key={form} onClick={() => openChunk(FORMS[form], () => onOpen(form))}>
      {LABELS[form]}
    </Button>
  );
  const hasWallets = signIn.wallets.ethereum || signIn.wallets.solana;
  const { passkeys, mailCodes, phone, providers, sso } = signIn;
  const rare = [phone && formButton('phoneCode'), hasWallets && formButton('wallet'), sso && formButton('sso')].filter(
    Boolean,
  );
  if (!passkeys && !mailCodes && providers.length + rare.length === 0) return null;
  return (
    <Ways>
      <div className={styles.row}>
        {mailCodes && formButton('mailCode')}
        {passkeys && <PasskeyButton />}
        {rare.length === 1 && rare}
      </div>
      <ProviderButtons returnPath={returnPath} terms={TERMS} />
      {rare.length > 1 && (
        <details className={styles.more} open={RARE_WAYS.test(readLastWay() ?? '')}>
          <summary>More ways to sign in</summary>
          <Stack gap="s3" stretch>
            {rare}
          </Stack>
        </details>
      )}
    </Ways>
  );
}

/** The ways behind the disclosure, which is open if one of them signed in last. */
const RARE_WAYS = /^(phoneCode|wallet|sso)$/;

/** The providers alone, for the sign-up page. */
export function ProviderWays({ returnPath }: { returnPath: string | undefined }) {
  const { signIn } = useClientConfig();
  if (signIn.providers.length === 0) return null;
  return (
    <Ways>
      <ProviderButtons returnPath={returnPath} terms="By continuing you accept the same terms and policy." />
    </Ways>
  );
}

const TERMS = (
  <>
    With a new account you accept the <TermsLinks />.
  </>
);

function ProviderButtons({ returnPath, terms }: { returnPath: string | undefined; terms: ReactNode }) {
  const { providers, signups } = useClientConfig().signIn;
  if (providers.length === 0) return null;
  return (
    <>
      <p className={styles.terms} aria-hidden="true">
        Continue with
      </p>
      <div className={styles.row}>
        {providers.map(({ name, label }) => (
          <ProviderButton key={name} name={name} label={label} returnPath={returnPath} />
        ))}
      </div>
      {/* Signing in at a provider may create an account without the sign-up form, whose checkbox accepts the terms. */}
      {signups && <p className={styles.terms}>{terms}</p>}
    </>
  );
}

type ProviderButtonProps = { name: string; label: string; returnPath: string | undefined };

function ProviderButton({ name, label, returnPath }: ProviderButtonProps) {
  const config = useClientConfig();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { signInAtProvider } = await import('./provider-sign-in.ts');
    return signInAtProvider(config, name, returnPath);
  });
  return (
    <Form layout="dialog" gap="s3" outcome={outcome} onSubmit={onSubmit}>
      <SubmitButton tone="plain" busy={busy} busyLabel="Redirecting...">
        <span>
          <span className="unseen">Continue with </span>
          {label}
        </span>
      </SubmitButton>
    </Form>
  );
}
