/** Verifies signatures of Ethereum wallets: `personal_sign` (EIP-191) with secp256k1. */
import * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';
import { invalidRequest } from '../http/errors.ts';
import type { Signer } from './parse-message.ts';

export const ethereumSigner: Signer = {
  parseSignature(text) {
    const digits = /^(?:0x)?([0-9a-f]{130})$/i.exec(text)?.[1];
    if (digits === undefined)
      throw invalidRequest('signature must be 65 bytes long, encoded as a 130 character-long hexadecimal string');
    return Buffer.from(digits, 'hex');
  },
  /**
   * Refuses contract accounts (ERC-1271). They have no key of their own, and only a node of the chain could verify
   * their signatures.
   */
  verify({ address, text, signature }) {
    try {
      const payload = PersonalMessage.getSignPayload(Hex.fromString(text));
      const signer = Secp256k1.recoverAddress({ payload, signature: Signature.fromBytes(signature) });
      return signer.toLowerCase() === address.toLowerCase();
    } catch {
      // ox throws if the signature contains no valid curve point or recovery id.
      return false;
    }
  },
  /** Upper and lower case are a checksum (EIP-55): both forms are the same wallet. */
  normalizeAddress: (address) => address.toLowerCase(),
};
