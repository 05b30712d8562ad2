/**
 * Signs webhooks as PayPal does (docs/specification/providers.md 3): RSA over the transmission and a CRC-32 of the
 * body. Only the simulator's own `verify-webhook-signature` checks signatures. The slow key generation is deferred to
 * the first signature.
 */
import { generateKeyPair, sign, verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

export type Transmission = { id: string; time: string; webhookId: string; body: string };

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };

export type Signer = {
  sign(transmission: Transmission): Promise<string>;
  /** Returns false before the first signature. */
  verify(transmission: Transmission, signature: string): boolean;
};

const toSignedMessage = ({ id, time, webhookId, body }: Transmission): Buffer =>
  Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);

export function createSigner(): Signer {
  let generating: Promise<KeyPair> | null = null;
  let keys: KeyPair | null = null;
  return {
    async sign(transmission) {
      generating ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
      keys = await generating;
      return sign('sha256', toSignedMessage(transmission), keys.privateKey).toString('base64');
    },
    verify: (transmission, signature) =>
      keys !== null &&
      verify('sha256', toSignedMessage(transmission), keys.publicKey, Buffer.from(signature, 'base64')),
  };
}
