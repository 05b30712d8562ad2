/** An authority of a test's own, certificates from it, and webhooks signed with them as PayPal signs its own. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { writeCertificate } from '../../simulators/paypal/webhooks/x509.ts';

type Pair = { publicKey: KeyObject; privateKey: KeyObject };
type Issuer = { name: string; keys: Pair };
type Dates = { notBefore: Date; notAfter: Date };

export const CERT_URL = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1';
export const WEBHOOK_ID = '8PT597110X687430LKGECATA';
const SIGNER_NAME = 'messageverificationcerts.paypal.com';

const DAY_MS = 24 * 60 * 60_000;
export const daysFromNow = (days: number): Date => new Date(Date.now() + days * DAY_MS);
const dates: Dates = { notBefore: daysFromNow(-10), notAfter: daysFromNow(300) };

export const ecKeys = (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const pssKeys = (): Pair => generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
export const rsaKeys = (modulusLength = 2048): Pair => generateKeyPairSync('rsa', { modulusLength });

export function makeAuthority(name: string, issuer?: Issuer, lasting: Dates = dates) {
  const own = { name, keys: ecKeys() };
  return { ...own, pem: writeCertificate({ ...own, issuer: issuer ?? own, authority: true, ...lasting }) };
}

export const makeLeaf = (
  issuer: Issuer,
  keys: Pair,
  { name = SIGNER_NAME, ...lasting }: Partial<Dates> & { name?: string } = {},
): string => writeCertificate({ name, keys, issuer, authority: false, ...dates, ...lasting });

export type Signing = { time?: Date; webhookId?: string; certUrl?: string; id?: string };

/** The headers that PayPal would send with this body. */
export function signedHeaders(
  body: string | Uint8Array,
  privateKey: KeyObject,
  { time = new Date(), webhookId = WEBHOOK_ID, certUrl = CERT_URL, id = randomUUID() }: Signing = {},
): Record<string, string> {
  const at = time.toISOString().replace(/\.\d+Z$/, 'Z');
  const message = `${id}|${at}|${webhookId}|${crc32(body)}`;
  return {
    'Content-Type': 'application/json',
    'PAYPAL-TRANSMISSION-ID': id,
    'PAYPAL-TRANSMISSION-TIME': at,
    'PAYPAL-TRANSMISSION-SIG': sign('sha256', Buffer.from(message), privateKey).toString('base64'),
    'PAYPAL-CERT-URL': certUrl,
    'PAYPAL-AUTH-ALGO': 'SHA256withRSA',
  };
}
