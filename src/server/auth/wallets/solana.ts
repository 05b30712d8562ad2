/** Verifies signatures of Solana wallets: Ed25519 over the text. The address is the public key. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { invalidRequest } from '../http/errors.ts';
import type { Signer } from './parse-message.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

export const solanaSigner: Signer = {
  parseSignature(text) {
    if (text.length !== 86 && text.length !== 88)
      throw invalidRequest('signature must be 64 bytes encoded as base64 with or without padding');
    if (!/^[A-Za-z0-9+/_-]{86}(?:==)?$/.test(text))
      throw invalidRequest('signature does not contain valid base64 characters');
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
