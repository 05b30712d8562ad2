/** Wallets with real keys, and the messages that they sign (docs/specification/api.md 30). */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import * as Address from 'ox/Address';
import * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';

export type Wallet = { chain: 'ethereum' | 'solana'; address: string; sign(text: string): string };

export function newEthereumWallet(): Wallet {
  const privateKey = Secp256k1.randomPrivateKey();
  const address = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }), { checksum: true });
  const payloadOf = (text: string) => PersonalMessage.getSignPayload(Hex.fromString(text));
  const sign = (text: string) => Signature.toHex(Secp256k1.sign({ payload: payloadOf(text), privateKey }));
  return { chain: 'ethereum', address, sign };
}

export function newSolanaWallet(): Wallet {
  const { secretKey, publicKey } = ed25519.keygen();
  const sign = (text: string) => Buffer.from(ed25519.sign(Buffer.from(text), secretKey)).toString('base64url');
  return { chain: 'solana', address: base58.encode(publicKey), sign };
}

export type MessageFields = {
  uri: string;
  /** Default: the host of `uri`. */
  domain?: string;
  /** Empty: no line with a nonce. */
  nonce: string;
  issuedAt: Date;
  extra?: string[];
  statement?: string;
};

export function messageOf(wallet: Wallet, fields: MessageFields): string {
  const { uri, nonce, issuedAt, extra = [], statement = 'Sign in to Hustle Forge' } = fields;
  const name = wallet.chain === 'ethereum' ? 'Ethereum' : 'Solana';
  return [
    `${fields.domain ?? new URL(uri).host} wants you to sign in with your ${name} account:`,
    wallet.address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${wallet.chain === 'ethereum' ? '1' : 'mainnet'}`,
    ...(nonce === '' ? [] : [`Nonce: ${nonce}`]),
    `Issued At: ${issuedAt.toISOString()}`,
    ...extra,
  ].join('\n');
}
