/** The part of http_ece that is used: it has no types of its own. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  type Params = {
    version: 'aes128gcm';
    /** The other side's public key, 65 bytes. Decryption reads it from the message. */
    dh?: Buffer;
    privateKey: ECDH;
    authSecret: Buffer;
    salt?: Buffer;
  };
  export function encrypt(data: Buffer, params: Params): Buffer;
  export function decrypt(data: Buffer, params: Params): Buffer;
}
