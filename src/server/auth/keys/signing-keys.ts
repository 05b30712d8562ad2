/**
 * The keys that sign and verify access tokens: the operator's file, or one generated into the data directory at the
 * first start. A running server follows a rotation: it reads the file again when it has changed.
 */
import { hkdfSync, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK, JWTHeaderParameters, JWTPayload } from 'jose';
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/log.ts';
import { UnusableKeyError, parseKeyFile } from './key-file.ts';
import type { KeyFile, SigningAlgorithm, VerificationJwk } from './key-file.ts';

/** How long a verifier may cache the published keys. */
export const JWKS_CACHE_SECONDS = 600;
/** While tokens are signed and verified, the file is checked for a change at most once in this time. */
const FILE_CHECK_MS = 10_000;
/** Threat: a flood of tokens with invented key ids. Unknown ids cause at most one look at the file in this time. */
const UNKNOWN_KID_CHECK_MS = 1_000;

type SecretPurpose =
  | 'refresh-tokens'
  | 'one-time-codes'
  | 'known-devices'
  | 'unknown-accounts'
  | 'factors'
  | 'recovery-codes'
  | 'provider-tokens';

export type VerificationKey = {
  readonly algorithm: SigningAlgorithm;
  readonly publicKey: CryptoKey;
  /** Unix milliseconds; Infinity for a key without an end. */
  readonly endsAtMs: number;
};

export type SigningKeys = {
  /** The content of `/.well-known/jwks.json`: public members of the keys that still verify. */
  publish(): Promise<{ keys: JWK[] }>;
  /** Signs with the first key of the file. */
  sign(claims: JWTPayload): Promise<string>;
  /** The key that a token's header names, or null. A header without `kid` means the first key. */
  find(header: Pick<JWTHeaderParameters, 'kid'>): Promise<VerificationKey | null>;
  /**
   * Counts the changes of the file that this process has read. Await `refresh` before comparing it; `refresh` returns
   * null while no check is due.
   */
  readonly version: number;
  refresh(): Promise<void> | null;
  /**
   * A 32-byte secret for one other purpose, derived from the file's root, which rotations keep. Threat: a reader of the
   * database alone cannot compute refresh tokens or mailed codes.
   */
  deriveSecret(purpose: SecretPurpose): Buffer;
};

type Source = { signingKeyFile: string | null; dataDir: string };
type Deps = Source & { clock: Clock; log: Logger };

export const signingKeyPath = ({ signingKeyFile, dataDir }: Source): string =>
  signingKeyFile ?? join(dataDir, 'signing-key.json');

/** Throws an Error that names the file when the keys cannot be used. */
export async function loadSigningKeys({ signingKeyFile, dataDir, clock, log }: Deps): Promise<SigningKeys> {
  const file = signingKeyPath({ signingKeyFile, dataDir });
  if (signingKeyFile === null) await createKeyIfMissing(file, dataDir);
  let stamp = await readStamp(file);
  let keys = await importKeys(await readKeyFile(file));
  let version = 0;
  let checkedAtMs = clock.now().getTime();
  let checking: Promise<void> | null = null;

  async function checkFile(): Promise<void> {
    try {
      const current = await readStamp(file);
      if (current === stamp) return;
      stamp = current;
      const next = await importKeys(await readKeyFile(file));
      if (!next.root.equals(keys.root)) throw new Error(`${file} derives other secrets: restart to use it`);
      keys = next;
      version += 1;
      log.info({ kid: keys.first.kid }, 'the signing keys were rotated');
    } catch (error) {
      // The keys in memory stay valid; a broken file is reported once per change.
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'cannot read the signing keys again',
      );
    }
  }

  /** Single-flight. The clock may have been set back, which must not stop the checks. */
  function refreshAfter(intervalMs: number): Promise<void> | null {
    const now = clock.now().getTime();
    if (checking === null && Math.abs(now - checkedAtMs) >= intervalMs) {
      checkedAtMs = now;
      checking = checkFile().finally(() => (checking = null));
    }
    return checking;
  }
  const refresh = (): Promise<void> | null => refreshAfter(FILE_CHECK_MS);

  function findLoaded(kid: string): VerificationKey | null {
    const key = keys.byKid.get(kid);
    return key !== undefined && clock.now().getTime() < key.endsAtMs ? key : null;
  }

  return {
    async publish() {
      await refresh();
      return { keys: [...keys.byKid.keys()].filter((kid) => findLoaded(kid)).map((kid) => keys.byKid.get(kid)!.jwk) };
    },
    async sign(claims) {
      await refresh();
      const { algorithm: alg, kid, privateKey } = keys.first;
      return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(privateKey);
    },
    async find({ kid }) {
      await refresh();
      if (kid === undefined) return findLoaded(keys.first.kid);
      const known = findLoaded(kid);
      if (known) return known;
      await refreshAfter(UNKNOWN_KID_CHECK_MS);
      return findLoaded(kid);
    },
    get version() {
      return version;
    },
    refresh,
    deriveSecret: (purpose) => Buffer.from(hkdfSync('sha256', keys.root, '', `hustle-forge/${purpose}`, 32)),
  };
}

/** Changes when the file is replaced or written again. */
async function readStamp(file: string): Promise<string> {
  const { ino, mtimeMs, size } = await stat(file);
  return `${ino} ${mtimeMs} ${size}`;
}

/** Throws an Error that names the file and never quotes it. */
export async function readKeyFile(file: string): Promise<KeyFile> {
  const text = await readFile(file, 'utf8');
  try {
    return await parseKeyFile(text);
  } catch (error) {
    if (!(error instanceof UnusableKeyError)) throw error;
    throw new Error(`The signing key ${file} cannot be used: ${error.message}`, { cause: error });
  }
}

type ImportedKeys = {
  first: { kid: string; algorithm: SigningAlgorithm; privateKey: CryptoKey };
  byKid: Map<string, VerificationKey & { jwk: JWK }>;
  root: Buffer;
};

async function importKeys({ signing, others, root }: KeyFile): Promise<ImportedKeys> {
  const { kid, algorithm, privateJwk } = signing;
  const privateKey = (await importJWK({ ...privateJwk, key_ops: ['sign'] }, algorithm)) as CryptoKey;
  const imported = await Promise.all([signing, ...others].map(importPublicKey));
  return { first: { kid, algorithm, privateKey }, byKid: new Map(imported), root };
}

async function importPublicKey({ kid, algorithm, jwk, endsAt }: VerificationJwk) {
  const publicKey = (await importJWK(jwk, algorithm)) as CryptoKey;
  const endsAtMs = endsAt === null ? Infinity : endsAt * 1000;
  return [kid, { algorithm, publicKey, endsAtMs, jwk }] as const;
}

/**
 * Creates the key file atomically: a concurrent process, or the next start after a crash, sees the whole key or no
 * file. `link` fails if the file exists, so the first process wins.
 */
async function createKeyIfMissing(file: string, dataDir: string): Promise<void> {
  const exists = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );
  if (exists) return;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const text = `${JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256' })}\n`;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
  try {
    await link(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
