/**
 * Signs webhooks as PayPal does (providers.md 1.4), with a certificate of the simulator's own authority. The authority is
 * made at once, because the server reads it when it starts; the RSA key costs a moment, so it waits for the first event.
 */
import { generateKeyPair, generateKeyPairSync, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { writeCertificate } from './x509.ts';

const SIGNER = 'messageverificationcerts.paypal.com';
const AUTHORITY = 'Sandbox Root CA';
const DAY_MS = 24 * 60 * 60 * 1000;

export type Transmission = { id: string; time: string; webhookId: string; body: string };

const messageOf = ({ id, time, webhookId, body }: Transmission): Buffer =>
  Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);

type Issued = {
  pem: string;
  sign(transmission: Transmission): string;
  verify(t: Transmission, signature: string): boolean;
};

export type Signer = {
  /** PEM of the root: what the product is told to trust. */
  readonly authority: string;
  /** The certificate, followed by its root, as it is served. */
  certificate(): Promise<string>;
  sign(transmission: Transmission): Promise<string>;
  /** False before anything was signed. */
  verify(transmission: Transmission, signature: string): boolean;
};

export function createSigner(now: () => Date): Signer {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const dates = { notBefore: new Date(now().getTime() - DAY_MS), notAfter: new Date(now().getTime() + 3650 * DAY_MS) };
  const root = { name: AUTHORITY, keys };
  const authority = writeCertificate({ ...root, issuer: root, authority: true, ...dates });
  let issued: Promise<Issued> | null = null;
  let made: Issued | null = null;

  async function issue(): Promise<Issued> {
    const leaf = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
    const pem = writeCertificate({ name: SIGNER, keys: leaf, issuer: root, authority: false, ...dates });
    made = {
      pem: pem + authority,
      sign: (transmission) => sign('sha256', messageOf(transmission), leaf.privateKey).toString('base64'),
      verify: (transmission, signature) =>
        verify('sha256', messageOf(transmission), leaf.publicKey, Buffer.from(signature, 'base64')),
    };
    return made;
  }

  const key = (): Promise<Issued> => (issued ??= issue());
  return {
    authority,
    certificate: async () => (await key()).pem,
    sign: async (transmission) => (await key()).sign(transmission),
    verify: (transmission, signature) => made?.verify(transmission, signature) ?? false,
  };
}
