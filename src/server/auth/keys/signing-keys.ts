/**
 * The keys that sign and verify access tokens: those of the operator's file, or those of the database, which the first
 * start creates. A running server follows a rotation: it reads the keys again when they have changed.
 */
import { hkdfSync } from 'node:crypto';
import { importJWK, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters, type JWTPayload } from 'jose';
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { runAsServer } from '#server/load/request-context.ts';
import type { Logger } from '#server/log.ts';
import {
  keySource,
  parseKeys,
  readKeys,
  type KeyFile,
  type SigningAlgorithm,
  type VerificationJwk,
} from './key-file.ts';
import { createKeysIfMissing } from './stored-keys.ts';

/** How long a verifier may cache the published keys. */
export const JWKS_CACHE_SECONDS = 600;
/** While tokens are signed and verified, the keys are checked for a change at most once in this time. */
const CHECK_MS = 10_000;
/** Threat: a flood of tokens with invented key ids. Unknown ids cause at most one check of the keys in this time. */
const UNKNOWN_KID_CHECK_MS = 1_000;

type SecretPurpose =
  | 'refresh-tokens'
  | 'one-time-codes'
  | 'known-devices'
  | 'unknown-accounts'
  | 'factors'
  | 'recovery-codes'
  | 'provider-tokens'
  | 'unsubscribe-links'
  | 'push';

export type VerificationKey = {
  readonly algorithm: SigningAlgorithm;
  readonly publicKey: CryptoKey;
  /** Unix milliseconds; Infinity for a key without an end. */
  readonly endsAtMs: number;
};

export type SigningKeys = {
  /** The content of `/.well-known/jwks.json`: public members of the keys that still verify. */
  publish(): Promise<{ keys: JWK[] }>;
  /** Signs with the first key. */
  sign(claims: JWTPayload): Promise<string>;
  /** The key that a token's header names, or null. A header without `kid` means the first key. */
  find(header: Pick<JWTHeaderParameters, 'kid'>): Promise<VerificationKey | null>;
  /**
   * Counts the changes of the keys that this process has read. Await `refresh` before comparing it; `refresh` returns
   * null while no check is due or in flight.
   */
  readonly version: number;
  refresh(): Promise<void> | null;
  /**
   * A 32-byte secret for one purpose besides signing, derived from the root of the keys, which rotations keep. Threat:
   * a reader of the tables of refresh tokens or mailed codes, but not of the keys, cannot compute a token or a code.
   */
  deriveSecret(purpose: SecretPurpose): Buffer;
};

type Deps = {
  /** Null: the keys are in the database. */
  signingKeyFile: string | null;
  dataDir: string;
  database: Pick<Database, 'asService'>;
  clock: Clock;
  log: Logger;
};

/** Throws an Error that says where the keys are when they cannot be used. */
export async function loadSigningKeys({ signingKeyFile, dataDir, database, clock, log }: Deps): Promise<SigningKeys> {
  if (signingKeyFile === null) await createKeysIfMissing({ database, dataDir, log });
  const source = keySource({ signingKeyFile }, database);
  let stamp = await source.readStamp();
  let keys = await importKeys(await readKeys(source));
  let version = 0;
  let checkedAtMs = clock.now().getTime();
  let checking: Promise<void> | null = null;

  async function checkSource(): Promise<void> {
    try {
      const current = await source.readStamp();
      if (current === stamp) return;
      const text = await source.readText();
      // Not before the text is read: a failed read is repeated at the next check.
      stamp = current;
      const next = await importKeys(await parseKeys(source, text));
      if (!next.root.equals(keys.root)) throw new Error(`${source.name} derives other secrets: restart to use it`);
      keys = next;
      version += 1;
      log.info({ kid: keys.first.kid }, 'the signing keys were rotated');
    } catch (error) {
      // The keys in memory stay valid; unusable keys are reported once per change.
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
      // All requests wait for this check, so the limiters must not count it as work of the client that starts it.
      checking = runAsServer(checkSource).finally(() => (checking = null));
    }
    return checking;
  }
  const refresh = (): Promise<void> | null => refreshAfter(CHECK_MS);

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
