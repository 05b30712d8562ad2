/**
 * A WebAuthn authenticator in software: ES256 keys, no attestation. It answers the options of a server as a browser
 * with a platform authenticator would, and every part of an answer can be forged.
 */
import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type CreationOptions = { challenge: string; rp: { id?: string }; user: { id: string } };
type RequestOptions = { challenge: string; rpId?: string; allowCredentials?: { id: string }[] };

type Credential = { id: Buffer; privateKey: KeyObject; rpId: string; userHandle: Buffer; signCount: number };

/** Parts of an answer that are forged. */
export type Forgery = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  /** A member of the client data that nobody reads. */
  padding?: string;
  userVerified?: boolean;
  userPresent?: boolean;
  signCount?: number;
  userHandle?: string | null;
  /** For `get`: the authenticator whose key signs. The answer still has the id of the answering authenticator. */
  signedBy?: SoftwareAuthenticator;
  format?: string;
  /** For `create`: the credential's id, instead of a new one. */
  credentialId?: Buffer;
};

const [USER_PRESENT, USER_VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];
const hash = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #countsSignatures: boolean;
  #credential: Credential | null = null;

  constructor(origin: string, { countsSignatures = true }: { countsSignatures?: boolean } = {}) {
    this.#origin = origin;
    this.#countsSignatures = countsSignatures;
  }

  /** The credential that `create` made last. `get` signs with its key. */
  get credential(): Credential {
    if (!this.#credential) throw new Error('the authenticator has no credential');
    return this.#credential;
  }

  /** Answers `navigator.credentials.create`, as `PublicKeyCredential.toJSON()` does. */
  create(options: CreationOptions, forgery: Forgery = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const rpId = options.rp.id ?? new URL(this.#origin).hostname;
    const id = forgery.credentialId ?? randomBytes(32);
    const userHandle = Buffer.from(options.user.id, 'base64url');
    this.#credential = { id, privateKey, rpId, userHandle, signCount: 0 };
    const { x, y } = publicKey.export({ format: 'jwk' });
    // COSE: key type EC2, ES256, curve P-256.
    const cose = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x!, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y!, 'base64url'))],
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), uint16(id.length), id, isoCBOR.encode(cose)]);
    const authData = this.#authenticatorData({ ...forgery, rpId: forgery.rpId ?? rpId }, attested);
    const attestation = new Map<string, unknown>([
      ['fmt', forgery.format ?? 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ]);
    const clientData = this.#clientData('webauthn.create', options.challenge, forgery);
    return {
      ...this.#envelope(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    };
  }

  /** Answers `navigator.credentials.get`. */
  get(options: RequestOptions, forgery: Forgery = {}) {
    const credential = this.credential;
    const signCount = forgery.signCount ?? (this.#countsSignatures ? (credential.signCount += 1) : 0);
    const rpId = forgery.rpId ?? options.rpId ?? credential.rpId;
    const authenticatorData = this.#authenticatorData({ ...forgery, rpId, signCount });
    const clientData = this.#clientData('webauthn.get', options.challenge, forgery);
    const key = (forgery.signedBy ?? this).credential.privateKey;
    const signature = createSign('sha256')
      .update(Buffer.concat([authenticatorData, hash(clientData)]))
      .sign(key);
    const userHandle =
      forgery.userHandle === undefined ? credential.userHandle.toString('base64url') : forgery.userHandle;
    return {
      ...this.#envelope(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle !== null && { userHandle }),
      },
    };
  }

  #envelope() {
    const id = this.credential.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, authenticatorAttachment: 'platform' };
  }

  #clientData(type: string, challenge: string, forgery: Forgery): Buffer {
    const { origin = this.#origin } = forgery;
    const data = { type: forgery.type ?? type, challenge: forgery.challenge ?? challenge, origin, crossOrigin: false };
    return Buffer.from(JSON.stringify({ ...data, padding: forgery.padding }));
  }

  #authenticatorData(forgery: Forgery & { rpId: string }, attested = Buffer.alloc(0)): Buffer {
    const { rpId, userPresent = true, userVerified = true, signCount = 0 } = forgery;
    const flags =
      (userPresent ? USER_PRESENT : 0) | (userVerified ? USER_VERIFIED : 0) | (attested.length > 0 ? ATTESTED : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(signCount);
    return Buffer.concat([hash(rpId), Buffer.from([flags]), counter, attested]);
  }
}
