/**
 * Seals secrets that the server must read again, such as a TOTP secret: AES-256-GCM with a key derived from the signing
 * keys. Threat: a person with access to the database, but not to the signing keys, reads a sealed secret or copies it
 * to another account's row. The secret cannot be unsealed without the key, nor in another row.
 */
import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  createHmac,
  createSecretKey,
  type Hmac,
  type KeyObject,
} from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * @param key 32 bytes from `deriveSecret`
 * @param context the row that the secret belongs to, such as `factor:<id>`; only the same context opens it
 */
export function seal(key: Buffer, context: string, plaintext: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Null if the secret was sealed with another key or for another context, or was changed. */
export function unseal(key: Buffer, context: string, sealed: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

/**
 * The KeyObject of each secret that `hmac` was called with. Node takes longer for a key in a buffer, and each renewal
 * of a session computes several HMACs.
 */
const keyObjects = new WeakMap<Buffer, KeyObject>();

export function hmac(secret: Buffer): Hmac {
  const key = keyObjects.get(secret) ?? createSecretKey(secret);
  keyObjects.set(secret, key);
  return createHmac('sha256', key);
}
