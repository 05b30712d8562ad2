/**
 * WebAuthn relying party: a credential works only for the host of PUBLIC_URL, and its signature covers the page's
 * origin.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '#server/config/config.ts';

export const CHALLENGE_LIFETIME_MS = 300_000;

export type RelyingParty = { id: string; origin: string; name: string };

export function relyingPartyOf({ publicUrl }: Pick<Config, 'publicUrl'>): RelyingParty {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin, name: 'Hustle Forge' };
}

export const createWebAuthnChallenge = (): string => randomBytes(32).toString('base64url');

/** WebAuthn allows a user handle of at most 64 bytes, which must not contain personal information. */
export const userHandleOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

type RequestOptions = {
  challenge: string;
  userVerification: 'required' | 'discouraged';
  /** Empty: the authenticator offers its passkeys for this host. */
  allow?: readonly { credential_id: Buffer; transports: string[] }[];
};

/**
 * Options for `navigator.credentials.get`. Built here and not by @simplewebauthn/server, which takes 20 MB of memory:
 * the sign-in page requests these options, so every installation would load the library.
 */
export const requestOptions = (party: RelyingParty, { challenge, userVerification, allow = [] }: RequestOptions) => ({
  challenge,
  rpId: party.id,
  timeout: CHALLENGE_LIFETIME_MS,
  userVerification,
  allowCredentials: allow.map(describeCredential),
});

export const describeCredential = (credential: { credential_id: Buffer; transports: string[] }) => ({
  type: 'public-key' as const,
  id: credential.credential_id.toString('base64url'),
  transports: credential.transports,
});
