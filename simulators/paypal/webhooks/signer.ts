/**
 * Signs webhooks as PayPal does (docs/specification/providers.md 3): RSA over the transmission and a CRC-32 of the body. Only the
 * simulator's own `verify-webhook-signature` checks it. The key takes a moment to make, so the first event makes it.
 */
import { generateKeyPair, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

export type Transmission = { id: string; time: string; webhookId: string; body: string };

type Pair = { publicKey: KeyObject; privateKey: KeyObject };

export type Signer = {
  sign(transmission: Transmission): Promise<string>;
  /** False before anything was signed. */
  verify(transmission: Transmission, signature: string): boolean;
};

const messageOf = ({ id, time, webhookId, body }: Transmission): Buffer =>
  Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);

export function createSigner(): Signer {
  let generating: Promise<Pair> | null = null;
  let keys: Pair | null = null;
  return {
    async sign(transmission) {
      generating ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
      keys = await generating;
      return sign('sha256', messageOf(transmission), keys.privateKey).toString('base64');
    },
    verify: (transmission, signature) =>
      keys !== null && verify('sha256', messageOf(transmission), keys.publicKey, Buffer.from(signature, 'base64')),
  };
}
