/** Verifies the signatures of one chain. */
export type Signer = {
  /** Throws `validation_failed`. */
  parseSignature(text: string): Uint8Array;
  verify(signed: { address: string; text: string; signature: Uint8Array }): boolean;
  /** One form for each wallet. */
  normalizeAddress(address: string): string;
};
