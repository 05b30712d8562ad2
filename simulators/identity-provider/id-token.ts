/** Signs ID tokens. The keys are generated at the first use, so that the sandbox starts fast. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { IdentityFault } from './faults.ts';

const ALGORITHM = 'RS256';
const KEY_ID = 'sandbox-1';
const LIFETIME_SECONDS = 3_600;

type Keys = { published: JWK; privateKey: CryptoKey; foreignKey: CryptoKey };

export type IdTokenSigner = {
  /** The content of the JWKS endpoint. */
  publish(): Promise<{ keys: JWK[] }>;
  sign(claims: Record<string, unknown>, fault?: IdentityFault | null): Promise<string>;
};

export function createIdTokenSigner(): IdTokenSigner {
  let keys: Promise<Keys> | null = null;
  const loadKeys = (): Promise<Keys> => (keys ??= generateKeys());
  return {
    publish: async () => ({ keys: [(await loadKeys()).published] }),
    async sign(claims, fault = null) {
      const { privateKey, foreignKey } = await loadKeys();
      const now = Math.floor(Date.now() / 1000);
      // JSON drops claims that are undefined.
      const payload = JSON.parse(
        JSON.stringify({ iat: now, exp: now + LIFETIME_SECONDS, ...claims, ...fault?.claims }),
      );
      if (fault?.signature === 'none') return `${encode({ alg: 'none' })}.${encode(payload)}.`;
      const key = fault?.signature === 'foreign' ? foreignKey : privateKey;
      return new SignJWT(payload).setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID, typ: 'JWT' }).sign(key);
    },
  };
}

async function generateKeys(): Promise<Keys> {
  const [pair, foreign] = await Promise.all([generateKeyPair(ALGORITHM), generateKeyPair(ALGORITHM)]);
  const published = { ...(await exportJWK(pair.publicKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' };
  return { published, privateKey: pair.privateKey, foreignKey: foreign.privateKey };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
