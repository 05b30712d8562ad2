/** Loads the key that signs access tokens: the operator's, or one generated into the data directory at the first start. */
import { hkdfSync, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';

const ALGORITHMS = ['ES256', 'RS256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

type SecretPurpose =
  | 'refresh-tokens'
  | 'one-time-codes'
  | 'known-devices'
  | 'unknown-accounts'
  | 'factors'
  | 'provider-tokens';

export type SigningKeys = {
  readonly algorithm: Algorithm;
  readonly kid: string;
  /** The content of `/.well-known/jwks.json`: public members only. */
  readonly jwks: { readonly keys: readonly JWK[] };
  readonly publicKey: CryptoKey;
  sign(claims: JWTPayload): Promise<string>;
  /**
   * A 32-byte secret for one other purpose, derived from the private key. Threat: a reader of the database alone cannot
   * compute refresh tokens or mailed codes.
   */
  deriveSecret(purpose: SecretPurpose): Buffer;
};

type Source = { signingKeyFile: string | null; dataDir: string };

/** Throws an Error that names the file when the key cannot be used. */
export async function loadSigningKeys({ signingKeyFile, dataDir }: Source): Promise<SigningKeys> {
  const file = signingKeyFile ?? join(dataDir, 'signing-key.json');
  const text = signingKeyFile === null ? await readOrCreateKey(file, dataDir) : await readFile(file, 'utf8');
  try {
    return await createSigningKeys(JSON.parse(text) as JWK);
  } catch (error) {
    const reason = error instanceof UnusableKeyError ? error.message : 'it is not a private JWK';
    // oxlint-disable-next-line preserve-caught-error -- a cause would be logged, and may quote the key
    throw new Error(`The signing key ${file} cannot be used: ${reason}`);
  }
}

class UnusableKeyError extends Error {}

async function createSigningKeys(jwk: JWK): Promise<SigningKeys> {
  const algorithm = selectAlgorithm(jwk);
  if (typeof jwk.d !== 'string') throw new UnusableKeyError('it has no private member');
  // Key generators list sign and verify for the pair, but WebCrypto imports a private key for signing only.
  if (jwk.key_ops && !jwk.key_ops.includes('sign')) throw new UnusableKeyError('its key_ops do not include sign');
  const kid = jwk.kid ?? (await calculateJwkThumbprint(jwk));
  const privateKey = (await importJWK({ ...jwk, key_ops: ['sign'] }, algorithm)) as CryptoKey;
  const published: JWK = { ...pickPublicMembers(jwk), kid, alg: algorithm, use: 'sig', key_ops: ['verify'] };
  const publicKey = (await importJWK(published, algorithm)) as CryptoKey;
  const privatePart = Buffer.from(jwk.d, 'base64url');
  return {
    algorithm,
    kid,
    publicKey,
    jwks: { keys: [published] },
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' }).sign(privateKey),
    deriveSecret: (purpose) => Buffer.from(hkdfSync('sha256', privatePart, '', `hustle-forge/${purpose}`, 32)),
  };
}

function selectAlgorithm(jwk: JWK): Algorithm {
  const declared = jwk.alg ?? (jwk.kty === 'EC' ? 'ES256' : 'RS256');
  const algorithm = ALGORITHMS.find((known) => known === declared);
  if (!algorithm) throw new UnusableKeyError('its algorithm is neither ES256 nor RS256');
  if (algorithm === 'ES256' && (jwk.kty !== 'EC' || jwk.crv !== 'P-256'))
    throw new UnusableKeyError('ES256 needs a P-256 key');
  if (algorithm === 'RS256' && jwk.kty !== 'RSA') throw new UnusableKeyError('RS256 needs an RSA key');
  return algorithm;
}

/** An allow-list, so that no private member is published. */
function pickPublicMembers(jwk: JWK): JWK {
  if (jwk.kty === 'EC') return { kty: 'EC', crv: jwk.crv!, x: jwk.x!, y: jwk.y! };
  return { kty: 'RSA', n: jwk.n!, e: jwk.e! };
}

/**
 * Creates the key file atomically: a concurrent process, or the next start after a crash, sees the whole key or no file.
 * `link` fails if the file exists, so the first process wins.
 */
async function readOrCreateKey(file: string, dataDir: string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (existing !== null) return existing;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const text = `${JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256' })}\n`;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
  try {
    await link(temporary, file);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return await readFile(file, 'utf8');
  } finally {
    await rm(temporary, { force: true });
  }
}
