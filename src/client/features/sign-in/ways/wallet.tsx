/** Signs in with a message that a wallet signs (docs/specification/wire.md 30). */
import { useState } from 'react';
import { signInMessage } from '#domain/messages.ts';
import { useClientConfig, useSupabase, type Supabase } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { findWallets, type Chain, type FoundWallet } from './find-wallets.ts';
import type { WayProps } from './way-frame.tsx';
import styles from '../sign-in.module.css';
import ways from './sign-in-ways.module.css';

const LABELS: Readonly<Record<Chain, string>> = { ethereum: 'Ethereum', solana: 'Solana' };
/** The code of a request that the user has declined (EIP-1193). */
const USER_REJECTED = 4001;

export function Wallet({ frame: Frame, onBack }: WayProps) {
  const { wallets } = useClientConfig().signIn;
  const findConfigured = () =>
    (['ethereum', 'solana'] as const).flatMap((chain) => (wallets[chain] ? findWallets(chain) : []));
  const [found, setFound] = useState(findConfigured);
  const chains = (['ethereum', 'solana'] as const).filter((chain) => wallets[chain]).map((chain) => LABELS[chain]);
  return (
    <Frame
      title="Sign in with a wallet"
      lead="Your wallet asks you to sign a message with our address in it. That costs nothing and moves nothing."
      footer={
        <button type="button" className={styles.inline} onClick={onBack}>
          Sign in another way
        </button>
      }
    >
      <div className={styles.notice}>
        {found.map((wallet, index) => (
          // The key contains the index, because two extensions may have the same name.
          <WalletButton key={`${wallet.chain} ${index}`} wallet={wallet} />
        ))}
        {found.length === 0 && (
          <>
            <Notice kind="error">
              No {chains.join(' or ')} wallet was found in this browser. Unlock or install one.
            </Notice>
            <Button onClick={() => setFound(findConfigured())}>Look again</Button>
          </>
        )}
      </div>
    </Frame>
  );
}

function WalletButton({ wallet }: { wallet: FoundWallet }) {
  const supabase = useSupabase();
  const config = useClientConfig();
  const { outcome, busy, onSubmit } = useSubmit(() => signInWithWallet(supabase, config.publishableKey, wallet));
  return (
    <form className={ways.way} onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Button type="submit" busy={busy} busyLabel="Waiting for your wallet...">
        Continue with {wallet.name} ({LABELS[wallet.chain]})
      </Button>
    </form>
  );
}

async function signInWithWallet(
  { auth, apiUrl }: Supabase,
  publishableKey: string,
  wallet: FoundWallet,
): Promise<Outcome> {
  const response = await fetch(`${apiUrl}/auth/v1/web3/nonce`, { headers: { apikey: publishableKey } });
  if (!response.ok) return { kind: 'error', text: 'The server did not answer. Please try again.' };
  const { nonce } = (await response.json()) as { nonce: string };
  // Without the query: the server compares the URL in the signed message with its own addresses.
  const url = `${location.origin}${location.pathname}`;
  const statement = 'Sign in to Hustle Forge.';
  try {
    const { error } =
      wallet.chain === 'ethereum'
        ? await auth.signInWithWeb3({
            chain: 'ethereum',
            wallet: await wallet.connect(),
            statement,
            options: { url, signInWithEthereum: { nonce } },
          })
        : await auth.signInWithWeb3({
            chain: 'solana',
            wallet: await wallet.connect(),
            statement,
            options: { url, signInWithSolana: { nonce } },
          });
    if (error) return { kind: 'error', text: error.code === undefined ? REFUSED : signInMessage(error) };
    rememberWay('wallet');
    // The stored session makes the route guard redirect, or closes the overlay.
    return null;
  } catch (cause) {
    const isRejected = (cause as { code?: unknown }).code === USER_REJECTED;
    return { kind: 'error', text: isRejected ? 'You did not sign the message. Nothing has changed.' : NO_ANSWER };
  }
}

const REFUSED = 'The server did not accept the signature. Please try again.';
const NO_ANSWER = 'Your wallet did not answer. Unlock it, choose an account, and try again.';
