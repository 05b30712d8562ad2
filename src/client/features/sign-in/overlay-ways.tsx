/** The buttons that sign in again to the account whose session has expired. They all keep the page open. */
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { hasKnownPasskeys } from '#client/lib/session/known-passkeys.ts';
import { readLastWay, type Way } from '#client/lib/session/last-way.ts';
import { useUser } from '#client/lib/session/session.ts';
import { ssoProviderOf } from '#client/lib/session/sso-user.ts';
import { Button } from '#client/ui/button.tsx';
import { useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Notice } from '#client/ui/notice.tsx';
import { accountWays } from './account-ways.ts';
import { PasskeyButton } from './ways/passkey-button.tsx';
import { signInInOtherTab } from './ways/provider-sign-in.ts';
import { WAY_FORMS, WAY_LABELS } from './ways/way-forms.ts';
import styles from './ways/sign-in-ways.module.css';

export type OverlayForm = keyof typeof WAY_FORMS;

/** The account's ways to sign in, the one to offer first at the front. */
export function useAccountWays(): readonly Way[] {
  const { signIn } = useClientConfig();
  const user = useUser();
  return accountWays(user, { signIn, lastWay: readLastWay(), hasPasskeys: hasKnownPasskeys(user.id) });
}

type WayButtonProps = {
  way: Way;
  /** Whether `way` is the one to offer first. */
  isFirst?: boolean;
  onOpen: (form: OverlayForm | 'password') => void;
};

export function WayButton({ way, isFirst = false, onOpen }: WayButtonProps) {
  const { providers } = useClientConfig().signIn;
  const sso = ssoProviderOf(useUser());
  const openChunk = useOpenChunk();
  const looks = { tone: isFirst ? 'primary' : 'plain', 'data-autofocus': isFirst || undefined } as const;
  switch (way) {
    case 'password':
      return <Button onClick={() => onOpen('password')}>Use your password</Button>;
    case 'passkey':
      return <PasskeyButton hasAutofill={false} isFirst={isFirst} />;
    case 'mailCode':
    case 'phoneCode':
    case 'wallet':
      return (
        <Button {...looks} onClick={() => openChunk(WAY_FORMS[way], () => onOpen(way))}>
          {WAY_LABELS[way]}
        </Button>
      );
    case 'sso':
      return <OtherTabButton name={sso ?? ''} label="single sign-on" looks={looks} />;
    default: {
      const name = way.slice('provider:'.length);
      const label = providers.find((provider) => provider.name === name)?.label ?? name;
      return <OtherTabButton name={name} label={label} looks={looks} />;
    }
  }
}

const TEXTS = {
  opened: (label: string) => `Sign in with ${label} in the new tab, then come back here.`,
  blocked: () => 'Your browser blocked the new tab. Allow it, and try again.',
  failed: () => 'Something went wrong between us and your provider. Please try again.',
};

type OtherTabButtonProps = { name: string; label: string; looks: { tone: 'primary' | 'plain' } };

/** Leaving the page would lose unsaved text, so the provider opens in another tab. */
function OtherTabButton({ name, label, looks }: OtherTabButtonProps) {
  const config = useClientConfig();
  const { authFetch } = useSupabase();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const result = await signInInOtherTab(config, authFetch, name);
    return { kind: result === 'opened' ? 'success' : 'error', text: TEXTS[result](label) };
  });
  return (
    <form className={styles.way} onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Button {...looks} type="submit" busy={busy} busyLabel="Opening...">
        Continue with {label}
      </Button>
    </form>
  );
}
