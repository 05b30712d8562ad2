/** Verifies the signatures of one chain. */
export type Signer = {
  /** Throws `validation_failed`. */
  parseSignature(text: string): Uint8Array;
  verify(signed: { address: string; text: string; signature: Uint8Array }): boolean;
  /** Returns the same text for every spelling of a wallet's address. */
  normalizeAddress(address: string): string;
};
