/**
 * Finds the wallets of this browser: Ethereum wallets announce themselves (EIP-6963) or are `window.ethereum`
 * (EIP-1193); Solana wallets register themselves (Wallet Standard) or are `window.solana`.
 */
import type { EthereumWallet, SolanaWallet } from '@supabase/auth-js';

export type Chain = 'ethereum' | 'solana';
/** `connect` resolves with a wallet that is ready to sign. It may open the wallet's window. */
export type FoundWallet = { name: string } & (
  | { chain: 'ethereum'; connect: () => Promise<EthereumWallet> }
  | { chain: 'solana'; connect: () => Promise<SolanaWallet> }
);

const MAX_NAME_LENGTH = 40;

/**
 * Synchronous, because wallets announce themselves in the task that asks for them. Threat: any extension can announce
 * any name, so names are cut and shown as plain text.
 */
export const findWallets = (chain: Chain): readonly FoundWallet[] => {
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
