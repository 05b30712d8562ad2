/** The accounts that a visitor can choose at the simulated providers. */
import { createHash } from 'node:crypto';

export type IdentityAccount = { email: string; name: string; verified: boolean };

export const ACCOUNTS: readonly IdentityAccount[] = [
  { email: 'ana@example.com', name: 'Ana Andersson', verified: true },
  { email: 'ben@example.com', name: 'Ben Baker', verified: false },
];

/** The account of an address that the visitor typed. */
export function accountFor(email: string, verified: boolean): IdentityAccount {
  const known = ACCOUNTS.find((account) => account.email === email);
  return { email, name: known?.name ?? email.replace(/@.*$/, ''), verified };
}

/** Stable per address, because the product stores ids beyond the lifetime of the simulator. Below 2^48. */
export const numericId = (email: string): number => createHash('sha256').update(email).digest().readUIntBE(0, 6);
