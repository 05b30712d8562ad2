/** Verifies signatures of Solana wallets: Ed25519 over the text. The address is the public key. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { AuthError } from '../http/errors.ts';
import type { Signer } from './parse-message.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

export const solanaSigner: Signer = {
  parseSignature(text) {
    if (text.length !== 86 && text.length !== 88) throw new AuthError('solana_signature_length');
    if (!/^[A-Za-z0-9+/_-]{86}(?:==)?$/.test(text)) throw new AuthError('solana_signature_encoding');
    return Buffer.from(text, 'base64url').subarray(0, SIGNATURE_BYTES);
  },
  verify({ address, text, signature }) {
    try {
      const publicKey = base58.decode(address);
      if (publicKey.length !== KEY_BYTES) return false;
      // Verifies by RFC 8032, not by ZIP 215. Threat: a public key of small order has signatures that fit every text.
      return ed25519.verify(signature, Buffer.from(text), publicKey, { zip215: false });
    } catch {
      return false;
    }
  },
  normalizeAddress: (address) => address,
};
