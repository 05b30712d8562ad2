/**
 * Reads and parses the signing keys of a file or of the database: a private JWK, a JWK set or list, or one key as PEM
 * (PKCS#8, SEC1 or PKCS#1). Key generators differ in the optional members, so only what makes a key unusable is
 * rejected. Also reads the SAML key.
 */
import { createPrivateKey, createPublicKey, sign, verify, X509Certificate, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AsService, Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { isObject } from '#server/parse-json.ts';

export const ALGORITHMS = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof ALGORITHMS)[number];
/** The minimum of RFC 7518 3.3. */
const MIN_RSA_BITS = 2_048;
const MIN_ROOT_BYTES = 32;

/** The member of a set that holds the bytes from which all other secrets are derived. It is never published. */
const SECRETS_KID = 'secrets';

/** A key that verifies tokens. */
export type VerificationJwk = {
  kid: string;
  algorithm: SigningAlgorithm;
  /** Public members only, as published in the JWKS. */
  jwk: JWK;
  /** Unix seconds after which the key verifies nothing; null for a key without an end. */
  endsAt: number | null;
};

/** A key that can also sign. */
export type SigningJwk = VerificationJwk & { privateJwk: JWK };

export type KeyFile = {
  signing: SigningJwk;
  /** The other keys of a set. */
  others: VerificationJwk[];
  /** The input of the key derivation: the bytes of the key named `secrets`, else the first key's private member. */
  root: Buffer;
};

/** The message names the fault and never quotes the file. */
export class UnusableKeyError extends Error {}

const NOT_A_KEY = 'it is neither a private JWK, a JWK set nor a PEM key';

/** Throws an UnusableKeyError. */
export async function parseKeyFile(text: string): Promise<KeyFile> {
  const members = readMembers(text);
  const roots = members.filter(isSecretsMember);
  if (roots.length > 1) throw new UnusableKeyError(`it has more than one key named "${SECRETS_KID}"`);
  const [first, ...rest] = members.filter((member) => !isSecretsMember(member));
  if (first === undefined) throw new UnusableKeyError('it holds no signing key');
  const signing = await readSigningKey(first);
  const others = await Promise.all(rest.map(readVerificationKey));
  const kids = [signing, ...others].map(({ kid }) => kid);
  if (new Set(kids).size < kids.length) throw new UnusableKeyError('two of its keys have the same kid');
  const root = Buffer.from(roots[0] === undefined ? signing.privateJwk.d! : readRoot(roots[0]), 'base64url');
  // Every secret is derived from these bytes. A damaged RSA key may hold an exponent of a single byte, which anybody
  // could guess.
  if (root.length < MIN_ROOT_BYTES) throw new UnusableKeyError('the private member of a key is too short');
  return { signing, others, root };
}

/** Writes a key file that `parseKeyFile` reads with the same root, whichever key comes first. */
export const writeKeyFile = ({ signing, others, root }: KeyFile): string => {
  const { kid, algorithm: alg, privateJwk } = signing;
  const keys: JWK[] = [
    { ...privateJwk, kid, alg, use: 'sig', key_ops: ['sign'] },
    ...others.map(({ jwk, endsAt }) => ({ ...jwk, ...(endsAt !== null && { exp: endsAt }) })),
    { kty: 'oct', kid: SECRETS_KID, k: root.toString('base64url') },
  ];
  return `${JSON.stringify({ keys }, null, 2)}\n`;
};

type Members = Record<string, unknown>;

function readMembers(text: string): Members[] {
  const content = text.replace(/^\uFEFF/, '').trim();
  if (content.includes('-----BEGIN ') && !/^[[{]/.test(content)) return [readPem(content)];
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    throw new UnusableKeyError(NOT_A_KEY);
  }
  const members: unknown = isObject(parsed) && Array.isArray(parsed['keys']) ? parsed['keys'] : parsed;
  const list: unknown[] = Array.isArray(members) ? members : [members];
  if (!list.every(isObject)) throw new UnusableKeyError(NOT_A_KEY);
  return list;
}

function readPem(content: string): Members {
  // Without this check OpenSSL would ask the terminal for the passphrase.
  if (/ENCRYPTED/.test(content)) throw new UnusableKeyError('it is encrypted with a passphrase');
  const count = content.match(/-----BEGIN (?:EC |RSA )?PRIVATE KEY-----/g)?.length ?? 0;
  if (count === 0) throw new UnusableKeyError('it holds no private key');
  if (count > 1) throw new UnusableKeyError('it holds more than one PEM key: use a JWK set');
  return { ...attempt(() => createPrivateKey(content).export({ format: 'jwk' }), NOT_A_KEY) };
}

const isSecretsMember = (member: Members): boolean => member['kty'] === 'oct' && member['kid'] === SECRETS_KID;

function readRoot({ k }: Members): string {
  if (typeof k === 'string' && Buffer.from(k, 'base64url').length >= MIN_ROOT_BYTES) return k;
  throw new UnusableKeyError(`its key "${SECRETS_KID}" has fewer than ${MIN_ROOT_BYTES} bytes`);
}

async function readSigningKey(member: Members): Promise<SigningJwk> {
  const algorithm = readAlgorithm(member);
  if (typeof member['d'] !== 'string') throw new UnusableKeyError('its first key has no private member');
  // Key generators often list `verify` beside `sign`, so only a list without `sign` is rejected.
  const operations = member['key_ops'];
  if (Array.isArray(operations) && !operations.includes('sign')) {
    throw new UnusableKeyError("its first key's key_ops do not include sign");
  }
  const key = attempt(() => createPrivateKey({ key: member, format: 'jwk' }), 'its first key is invalid');
  const publicKey = createPublicKey(key);
  checkPair(key, publicKey);
  const privateJwk = key.export({ format: 'jwk' }) as JWK;
  return { ...(await describeKey(member, algorithm, publicKey)), endsAt: null, privateJwk };
}

/** Drops the private members: only the first key signs. */
async function readVerificationKey(member: Members): Promise<VerificationJwk> {
  const algorithm = readAlgorithm(member);
  const publicKey = attempt(() => createPublicKey({ key: member, format: 'jwk' }), 'one of its keys is invalid');
  const endsAt = member['exp'] ?? null;
  if (endsAt !== null && !Number.isSafeInteger(endsAt)) throw new UnusableKeyError('the exp of a key is no number');
  return { ...(await describeKey(member, algorithm, publicKey)), endsAt: endsAt as number | null };
}

function readAlgorithm({ kty, crv, alg, use }: Members): SigningAlgorithm {
  const declared = alg ?? (kty === 'EC' ? 'ES256' : kty === 'RSA' ? 'RS256' : undefined);
  const algorithm = ALGORITHMS.find((known) => known === declared);
  if (!algorithm) throw new UnusableKeyError('the algorithm of a key is neither ES256 nor RS256');
  if (algorithm === 'ES256' && (kty !== 'EC' || crv !== 'P-256')) {
    throw new UnusableKeyError('ES256 needs a P-256 key');
  }
  if (algorithm === 'RS256' && kty !== 'RSA') throw new UnusableKeyError('RS256 needs an RSA key');
  if (use !== undefined && use !== 'sig') throw new UnusableKeyError('the use of a key is not sig');
  return algorithm;
}

async function describeKey(
  member: Members,
  algorithm: SigningAlgorithm,
  publicKey: KeyObject,
): Promise<Omit<VerificationJwk, 'endsAt'>> {
  const bits = publicKey.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS) {
    throw new UnusableKeyError(`an RSA key has fewer than ${MIN_RSA_BITS} bits`);
  }
  // Exporting the public key object cannot publish a private member.
  const publicMembers = publicKey.export({ format: 'jwk' }) as JWK;
  const named = member['kid'] ?? (await calculateJwkThumbprint(publicMembers));
  if (typeof named !== 'string' || named === '') throw new UnusableKeyError('the kid of a key is no text');
  const jwk: JWK = { ...publicMembers, kid: named, alg: algorithm, use: 'sig', key_ops: ['verify'] };
  return { kid: named, algorithm, jwk };
}

/**
 * Throws unless the private key fits the public key. Importing does not compare them, and the tokens of a mixed pair
 * would fail at every verifier.
 */
function checkPair(privateKey: KeyObject, publicKey: KeyObject): void {
  const probe = Buffer.from('hustle-forge');
  const mismatch = "its first key's public and private members do not match";
  const matches = attempt(() => verify('sha256', probe, publicKey, sign('sha256', probe, privateKey)), mismatch);
  if (!matches) throw new UnusableKeyError(mismatch);
}

/** Replaces OpenSSL's error, which may quote the key. */
function attempt<T>(work: () => T, reason: string): T {
  try {
    return work();
  } catch {
    throw new UnusableKeyError(reason);
  }
}

/** Where the signing keys are kept: the operator's file, or the database for all servers that use it. */
export type KeySource = {
  /** Names the source at the beginning of an error message. */
  readonly name: string;
  /** Returns a text that changes with the keys, without the keys themselves. */
  readStamp(): Promise<string>;
  /** @throws NoKeysError if no keys exist */
  readText(): Promise<string>;
};

export class NoKeysError extends Error {}

/**
 * Requests wait while the keys are read again. Without this limit, a database that does not answer would hold them all.
 */
const DATABASE_TIMEOUT_MS = 1_000;

/** @param setting the setting that names the file, for error messages */
export function fileKeySource(file: string, setting?: string): KeySource {
  const place = setting === undefined ? file : `${file} (${setting})`;
  const rejectUnreadable = (error: NodeJS.ErrnoException): never => {
    if (error.code === 'ENOENT') throw new NoKeysError(`There is no key at ${place}.`, { cause: error });
    throw new Error(`The signing key ${place} cannot be read (${error.code ?? error.message}).`, { cause: error });
  };
  return {
    name: `The signing key ${place}`,
    /** Changes when the file is replaced or written again. */
    async readStamp() {
      const { ino, mtimeMs, size } = await stat(file).catch(rejectUnreadable);
      return `${ino} ${mtimeMs} ${size}`;
    },
    readText: () => readFile(file, 'utf8').catch(rejectUnreadable),
  };
}

/** @param service the database, or the transaction that reads and replaces the keys */
export function databaseKeySource(service: AsService): KeySource {
  const row = queryBuilder.selectFrom('auth.signing_keys');
  return {
    name: 'The signing keys in the database',
    async readStamp() {
      const [found] = await withTimeout(service.run(row.select(sql<string>`md5(key_set)`.as('stamp'))));
      return found?.stamp ?? '';
    },
    async readText() {
      const [found] = await withTimeout(service.run(row.select('key_set')));
      if (!found) throw new NoKeysError('The database has no signing keys.');
      return found.key_set;
    },
  };
}

type Settings = { signingKeyFile: string | null };

export const keySource = ({ signingKeyFile }: Settings, database: Pick<Database, 'asService'>): KeySource =>
  signingKeyFile === null
    ? databaseKeySource(database.asService('read the signing keys'))
    : fileKeySource(signingKeyFile, 'AUTH_SIGNING_KEY_FILE');

/** @throws NoKeysError, or an Error that never quotes the keys */
export const readKeys = async (source: KeySource): Promise<KeyFile> => parseKeys(source, await source.readText());

/** @throws Error that names the source and never quotes the keys */
export async function parseKeys({ name }: KeySource, text: string): Promise<KeyFile> {
  try {
    return await parseKeyFile(text);
  } catch (error) {
    if (!(error instanceof UnusableKeyError)) throw error;
    throw new Error(`${name} cannot be used: ${error.message}`, { cause: error });
  }
}

async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(DATABASE_TIMEOUT_MS, undefined, { ref: false, signal: timer.signal }).then(
    () => Promise.reject(new Error('the database does not answer')),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}

// Loads the key that signs our authentication requests, and its certificate for the identity providers.

export type SamlKey = { readonly privateKey: string; readonly certificate: string };

/** Throws an Error that names the setting and the file when the key cannot be used. */
export async function loadSamlKey(file: string): Promise<SamlKey> {
  const name = `The SAML key ${file} (AUTH_SAML_KEY_FILE)`;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${name} cannot be read (${error.code ?? error.message}).`, { cause: error });
  });
  try {
    return parseSamlKey(text);
  } catch (error) {
    const reason = error instanceof UnusableKeyError ? error.message : 'it is not PEM';
    // oxlint-disable-next-line preserve-caught-error -- a cause would be logged, and may quote the key
    throw new Error(`${name} cannot be used: ${reason}`);
  }
}

/** Reads a private RSA key and a certificate for it from one PEM file. */
export function parseSamlKey(text: string): SamlKey {
  const keyPem = /-----BEGIN (?:RSA )?PRIVATE KEY-----[^-]+-----END (?:RSA )?PRIVATE KEY-----/.exec(text)?.[0];
  if (keyPem === undefined) throw new UnusableKeyError('it holds no unencrypted private key');
  const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0];
  if (certificatePem === undefined) throw new UnusableKeyError('it holds no certificate');
  const privateKey = createPrivateKey(keyPem);
  if (!isStrongRsa(privateKey)) throw new UnusableKeyError('its key is not RSA with 2048 bits or more');
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.checkPrivateKey(privateKey)) throw new UnusableKeyError('its certificate belongs to another key');
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: certificate.toString(),
  };
}

export const isStrongRsa = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
