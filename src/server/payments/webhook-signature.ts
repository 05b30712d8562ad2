/**
 * Whether a webhook comes from PayPal, found out on this machine with what Node brings: `crypto.verify`, `X509Certificate`
 * and `zlib.crc32`. PayPal signs `transmission id|time|webhook id|CRC-32 of the body`, so the body is needed as its bytes.
 *
 * The checksum is no hash: somebody who holds a genuine transmission can make another body that fits it. That is why a
 * genuine event is still only a hint (webhook-event.ts).
 */
import { constants, verify } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Clock } from '../clock.ts';
import type { WebhookTransmission } from './paypal/paypal-client.ts';
import { CertificateRefused } from './webhook-certificates.ts';
import type { Certificates } from './webhook-certificates.ts';

/** PayPal repeats what was not taken for three days. */
const MAX_AGE_MS = 4 * 24 * 60 * 60_000;
const MAX_AHEAD_MS = 5 * 60_000;

export type Verdict =
  | { readonly outcome: 'genuine' }
  /** For the log; the caller learns no more than that it was refused. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** The signature is right, and only PayPal can say whether the certificate is its own. */
  | { readonly outcome: 'unproven' };

const refused = (reason: string): Verdict => ({ outcome: 'refused', reason });

const SHAPES: Record<keyof WebhookTransmission, { header: string; shape: RegExp }> = {
  id: { header: 'paypal-transmission-id', shape: /^[\x21-\x7b\x7d\x7e]{1,100}$/ },
  time: { header: 'paypal-transmission-time', shape: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/ },
  signature: { header: 'paypal-transmission-sig', shape: /^[A-Za-z0-9+/]{4,1400}={0,2}$/ },
  certUrl: { header: 'paypal-cert-url', shape: /^[\x21-\x7e]{1,500}$/ },
  algorithm: { header: 'paypal-auth-algo', shape: /^[A-Za-z0-9]{1,100}$/ },
};

/** null when a header is missing or not of the shape it always has. */
export function readTransmission(header: (name: string) => string | undefined): WebhookTransmission | null {
  const read = (field: keyof WebhookTransmission): string => {
    const value = header(SHAPES[field].header);
    return value !== undefined && SHAPES[field].shape.test(value) ? value : '';
  };
  const transmission = {
    id: read('id'),
    time: read('time'),
    signature: read('signature'),
    certUrl: read('certUrl'),
    algorithm: read('algorithm'),
  };
  return Object.values(transmission).includes('') ? null : transmission;
}

/** Rejects with CertificateUnavailable when the certificate cannot be had now. The cheap checks come first. */
export async function checkSignature(
  transmission: WebhookTransmission,
  body: Uint8Array,
  { certificates, clock, webhookId }: { certificates: Certificates; clock: Clock; webhookId: string },
): Promise<Verdict> {
  // Pinned: what else a header may name has never been looked at by us.
  if (transmission.algorithm !== 'SHA256withRSA') return refused('another algorithm');
  const ageMs = clock.now().getTime() - Date.parse(transmission.time);
  if (Number.isNaN(ageMs) || ageMs > MAX_AGE_MS || ageMs < -MAX_AHEAD_MS) return refused('too old or in the future');

  const message = `${transmission.id}|${transmission.time}|${webhookId}|${crc32(body)}`;
  try {
    const { leaf, chain } = await certificates.get(transmission.certUrl);
    const signed = verify(
      'sha256',
      Buffer.from(message),
      { key: leaf.publicKey, padding: constants.RSA_PKCS1_PADDING },
      Buffer.from(transmission.signature, 'base64'),
    );
    if (!signed) return refused('the signature does not fit');
    return { outcome: chain === 'trusted' ? 'genuine' : 'unproven' };
  } catch (error) {
    if (error instanceof CertificateRefused) return refused(`the certificate: ${error.message}`);
    throw error;
  }
}
