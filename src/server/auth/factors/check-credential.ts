/**
 * Verifies the answers of authenticators with @simplewebauthn/server: new credentials and assertions. Importing this
 * module loads the library.
 */
import {
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { JsonObject } from '#server/database/tables.ts';
import { CHALLENGE_LIFETIME_MS, describeCredential, type RelyingParty } from './relying-party.ts';

/** COSE: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];
/**
 * We ask for no attestation. Threat: a client sends another format, whose verification parses certificates and asks the
 * addresses in them for revocations. These two formats are verified without certificates, so they cause no requests.
 */
const ATTESTATION_FORMATS: ReadonlySet<string> = new Set(['none', 'packed']);
/** https://www.w3.org/TR/webauthn-3/#enum-transport */
const TRANSPORTS: ReadonlySet<string> = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);
/**
 * The maximum of each member of an answer, in characters of base64url. A key with an id of 1,023 bytes takes about
 * 2,000. Threat: the library decodes a megabyte of CBOR or JSON before it checks a signature, and blocks the event
 * loop.
 */
const MAX_MEMBER_LENGTH = 16 * 1024;
/** https://www.w3.org/TR/webauthn-3/#credential-id */
const MAX_CREDENTIAL_ID_BYTES = 1_023;

type CreationRequest = {
  challenge: string;
  userHandle: Buffer;
  userName: string;
  exclude: readonly { credential_id: Buffer; transports: string[] }[];
  /** True for a passkey, a discoverable credential that verifies its user. False for a second factor. */
  isPasskey: boolean;
};

/** Options for `navigator.credentials.create`. */
export const creationOptions = (party: RelyingParty, request: CreationRequest) =>
  generateRegistrationOptions({
    rpID: party.id,
    rpName: party.name,
    challenge: new Uint8Array(Buffer.from(request.challenge, 'base64url')),
    userID: new Uint8Array(request.userHandle),
    userName: request.userName,
    userDisplayName: request.userName,
    timeout: CHALLENGE_LIFETIME_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: request.exclude.map(describeCredential),
    authenticatorSelection: request.isPasskey
      ? { residentKey: 'required', userVerification: 'required' }
      : { residentKey: 'discouraged', userVerification: 'discouraged' },
  });

export type NewCredential = {
  credentialId: Buffer;
  publicKey: Buffer;
  signCount: number;
  transports: string[];
  aaguid: string;
  backedUp: boolean;
};

type Expectation = { party: RelyingParty; challenge: string; requireUserVerification: boolean };

/**
 * Returns null for an answer that does not prove a new credential for the challenge, or has another attestation format.
 */
export async function checkNewCredential(
  answer: JsonObject,
  { party, challenge, requireUserVerification }: Expectation,
): Promise<NewCredential | null> {
  const response = parseRegistration(answer);
  if (!response) return null;
  try {
    const attestation = new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url'));
    const decoded = decodeAttestationObject(attestation);
    if (!ATTESTATION_FORMATS.has(decoded.get('fmt')) || decoded.get('attStmt').get('x5c') !== undefined) return null;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return null;
    const { credential } = registrationInfo;
    const credentialId = Buffer.from(credential.id, 'base64url');
    if (credential.id !== response.id || credentialId.length > MAX_CREDENTIAL_ID_BYTES) return null;
    return {
      credentialId,
      publicKey: Buffer.from(credential.publicKey),
      signCount: credential.counter,
      transports: response.response.transports ?? [],
      aaguid: registrationInfo.aaguid,
      backedUp: registrationInfo.credentialBackedUp,
    };
  } catch {
    // The library throws an Error for every answer that does not fit, also for bytes that it cannot parse.
    return null;
  }
}

type KnownCredential = { credential_id: Buffer; public_key: Buffer; sign_count: number };
export type Assertion = { signCount: number; backedUp: boolean };

/**
 * Returns null for an answer that this credential has not signed for the challenge, and for a signature counter that
 * did not rise, unless it always is 0. Threat: a copy of the authenticator, whose counter lags behind.
 */
export async function checkAssertion(
  answer: JsonObject,
  credential: KnownCredential,
  { party, challenge, requireUserVerification }: Expectation,
): Promise<Assertion | null> {
  const response = parseAssertion(answer);
  const id = credential.credential_id.toString('base64url');
  if (!response || response.id !== id) return null;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification,
      credential: { id, publicKey: new Uint8Array(credential.public_key), counter: credential.sign_count },
    });
    if (!verified) return null;
    return { signCount: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch {
    // As in `checkNewCredential`.
    return null;
  }
}

const isMember = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_MEMBER_LENGTH;

/** Null if a required member is missing, malformed or longer than MAX_MEMBER_LENGTH. */
function parseRegistration(answer: JsonObject): RegistrationResponseJSON | null {
  const { id, rawId, type, response } = answer;
  if (!isMember(id) || rawId !== id || type !== 'public-key') return null;
  if (typeof response !== 'object' || response === null) return null;
  const { clientDataJSON, attestationObject, transports } = response as JsonObject;
  if (!isMember(clientDataJSON) || !isMember(attestationObject)) return null;
  return {
    id,
    rawId,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject, transports: parseTransports(transports) },
  };
}

/** As `parseRegistration`. */
function parseAssertion(answer: JsonObject): AuthenticationResponseJSON | null {
  const { id, rawId, type, response } = answer;
  if (!isMember(id) || rawId !== id || type !== 'public-key') return null;
  if (typeof response !== 'object' || response === null) return null;
  const { clientDataJSON, authenticatorData, signature } = response as JsonObject;
  if (!isMember(clientDataJSON) || !isMember(authenticatorData) || !isMember(signature)) return null;
  return { id, rawId, type, clientExtensionResults: {}, response: { clientDataJSON, authenticatorData, signature } };
}

const parseTransports = (value: unknown): string[] =>
  Array.isArray(value)
    ? [...new Set(value)].filter((each): each is string => typeof each === 'string' && TRANSPORTS.has(each))
    : [];
