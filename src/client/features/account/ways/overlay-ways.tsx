/** The other ways to sign in of the account whose session has expired. The page under the overlay stays. */
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Notice } from '#client/ui/notice.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { signInInOtherTab } from './provider-sign-in.ts';
import { Ways } from './ways.tsx';
import styles from './sign-in-ways.module.css';

export const OVERLAY_FORMS = {
  mailCode: lazyChunk(async () => (await import('./mail-code.tsx')).MailCode),
  phoneCode: lazyChunk(async () => (await import('./phone-code.tsx')).PhoneCode),
  wallet: lazyChunk(async () => (await import('./wallet.tsx')).Wallet),
};
export type OverlayForm = keyof typeof OVERLAY_FORMS;

export function OverlayWays({ onOpen }: { onOpen: (form: OverlayForm) => void }) {
  const { signIn } = useClientConfig();
  const user = useUser();
  const openChunk = useOpenChunk();
  const providers = signIn.providers.filter(({ name }) => user.app_metadata.providers?.includes(name));
  const formButton = (form: OverlayForm, label: string) => (
    <Button onClick={() => openChunk(OVERLAY_FORMS[form], () => onOpen(form))}>{label}</Button>
  );
  // An account of a wallet has no address, and may have no other way in.
  const hasWallet = user.app_metadata.providers?.includes('web3') ?? false;
  if (!signIn.passkeys && !signIn.mailCodes && !hasWallet && providers.length === 0) return null;
  return (
    <Ways>
      {signIn.passkeys && <PasskeyButton hasAutofill={false} />}
      {signIn.mailCodes && user.email && formButton('mailCode', 'Email me a code')}
      {signIn.phone && user.phone && formButton('phoneCode', 'Text me a code')}
      {hasWallet && formButton('wallet', 'Continue with a wallet')}
      {providers.map(({ name, label }) => (
        <OtherTabButton key={name} name={name} label={label} />
      ))}
    </Ways>
  );
}

const TEXTS = {
  opened: (label: string) => `Sign in with ${label} in the new tab, then come back here.`,
  blocked: () => 'Your browser blocked the new tab. Allow it, and try again.',
  failed: () => 'Something went wrong between us and your provider. Please try again.',
};

/** Leaving the page would lose unsaved text, so the provider opens in another tab. */
export function OtherTabButton({ name, label }: { name: string; label: string }) {
  const config = useClientConfig();
  const { authFetch } = useSupabase();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const result = await signInInOtherTab(config, authFetch, name);
    return { kind: result === 'opened' ? 'success' : 'error', text: TEXTS[result](label) };
  });
  return (
    <form className={styles.way} onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Button type="submit" busy={busy} busyLabel="Opening...">
        Continue with {label}
      </Button>
    </form>
  );
}
