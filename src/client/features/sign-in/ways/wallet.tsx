/** Signs in with a message that a wallet signs (docs/specification/api.md 30). */
import { useState } from 'react';
import type { EthereumWallet, SolanaWallet } from '@supabase/auth-js';
import { signInMessage } from '#domain/messages.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig, useSupabase, type Auth, type Supabase } from '#client/lib/api/supabase.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { OtherWays, type WayProps } from '../sign-in-layout.tsx';

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
      footer={<OtherWays onBack={onBack} />}
    >
      <Stack above="s6" stretch>
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
      </Stack>
    </Frame>
  );
}

function WalletButton({ wallet }: { wallet: FoundWallet }) {
  const supabase = useSupabase();
  const auth = useAuth();
  const { outcome, busy, onSubmit } = useSubmit(() => signInWithWallet(supabase, auth, wallet));
  return (
    <Form layout="dialog" gap="s3" outcome={outcome} onSubmit={onSubmit}>
      <SubmitButton tone="plain" busy={busy} busyLabel="Waiting for your wallet...">
        Continue with {wallet.name} ({LABELS[wallet.chain]})
      </SubmitButton>
    </Form>
  );
}

async function signInWithWallet({ askAsGuest }: Supabase, auth: Auth, wallet: FoundWallet): Promise<Outcome> {
  const response = await askAsGuest('/auth/v1/web3/nonce');
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

// Finds the wallets of this browser: Ethereum wallets announce themselves (EIP-6963) or are `window.ethereum`
// (EIP-1193); Solana wallets register themselves (Wallet Standard) or are `window.solana`.

type Chain = 'ethereum' | 'solana';
/** `connect` resolves with a wallet that is ready to sign. It may open the wallet's window. */
type FoundWallet = { name: string } & (
  | { chain: 'ethereum'; connect: () => Promise<EthereumWallet> }
  | { chain: 'solana'; connect: () => Promise<SolanaWallet> }
);

const MAX_NAME_LENGTH = 40;

/**
 * Synchronous, because wallets announce themselves in the task that asks for them. Threat: any extension can announce
 * any name, so names are cut and shown as plain text.
 */
const findWallets = (chain: Chain): readonly FoundWallet[] => {
  const found = chain === 'ethereum' ? findEthereumWallets() : findSolanaWallets();
  return found.map((wallet) => ({ ...wallet, name: wallet.name.slice(0, MAX_NAME_LENGTH) }));
};

type Globals = { ethereum?: EthereumWallet; solana?: SolanaWallet & { connect?: () => Promise<unknown> } };

function findEthereumWallets(): FoundWallet[] {
  const found = new Map<string, FoundWallet>();
  const onAnnounced = (event: Event): void => {
    const { info, provider } = (
      event as CustomEvent<{ info: { uuid: string; name: string }; provider: EthereumWallet }>
    ).detail;
    found.set(info.uuid, { chain: 'ethereum', name: info.name, connect: () => Promise.resolve(provider) });
  };
  addEventListener('eip6963:announceProvider', onAnnounced);
  dispatchEvent(new Event('eip6963:requestProvider'));
  removeEventListener('eip6963:announceProvider', onAnnounced);
  const { ethereum } = globalThis as Globals;
  if (found.size > 0 || !ethereum) return [...found.values()];
  return [{ chain: 'ethereum', name: 'your wallet', connect: () => Promise.resolve(ethereum) }];
}

type Account = { address: string; publicKey: Uint8Array };
type SignedMessage = { signedMessage: Uint8Array; signature: Uint8Array };
type StandardWallet = {
  name: string;
  chains: readonly string[];
  features: {
    'solana:signIn'?: { signIn: (input: object) => Promise<readonly SignedMessage[]> };
    'standard:connect'?: { connect: () => Promise<{ accounts: readonly Account[] }> };
    'solana:signMessage'?: {
      signMessage: (input: { account: Account; message: Uint8Array }) => Promise<readonly SignedMessage[]>;
    };
  };
};

function findSolanaWallets(): FoundWallet[] {
  const standard: StandardWallet[] = [];
  const api = { register: (...wallets: StandardWallet[]) => (standard.push(...wallets), () => undefined) };
  const onRegistered = (event: Event): void => (event as CustomEvent<(given: typeof api) => void>).detail(api);
  addEventListener('wallet-standard:register-wallet', onRegistered);
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }));
  removeEventListener('wallet-standard:register-wallet', onRegistered);
  const found = standard
    .filter(({ chains, features }) => {
      const canSign = features['solana:signIn'] ?? (features['standard:connect'] && features['solana:signMessage']);
      return canSign && chains.some((chain) => chain.startsWith('solana:'));
    })
    .map((wallet): FoundWallet => ({ chain: 'solana', name: wallet.name, connect: () => adaptWallet(wallet) }));
  const { solana } = globalThis as Globals;
  if (found.length > 0 || !solana) return found;
  const connect = async (): Promise<SolanaWallet> => {
    if (!solana.signIn) await solana.connect?.();
    return solana;
  };
  return [{ chain: 'solana', name: 'your wallet', connect }];
}

/** Adapts a Wallet Standard wallet to the interface of `window.solana`, which auth-js expects. */
async function adaptWallet({ features }: StandardWallet): Promise<SolanaWallet> {
  const signIn = features['solana:signIn'];
  if (signIn) return { signIn: (...inputs: object[]) => signIn.signIn(inputs[0] ?? {}) } as unknown as SolanaWallet;
  const { accounts } = await features['standard:connect']!.connect();
  const account = accounts[0];
  if (!account) throw new Error('the wallet has no account');
  return {
    publicKey: { toBase58: () => account.address },
    signMessage: async (message: Uint8Array) => {
      const [signed] = await features['solana:signMessage']!.signMessage({ account, message });
      return signed!.signature;
    },
  };
}
