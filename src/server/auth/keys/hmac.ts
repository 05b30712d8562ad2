/**
 * HMAC-SHA-256 with a secret of `deriveSecret`. Node takes five times as long for a key in a buffer as for a KeyObject,
 * and each renewal of a session computes several HMACs.
 */
import { createHmac, createSecretKey, type Hmac, type KeyObject } from 'node:crypto';

const keyObjects = new WeakMap<Buffer, KeyObject>();

export function hmac(secret: Buffer): Hmac {
  const key = keyObjects.get(secret) ?? createSecretKey(secret);
  keyObjects.set(secret, key);
  return createHmac('sha256', key);
}
