/** Replaces the signing key without signing anybody out (docs/operations.md, "The signing key"). */
import { randomUUID } from 'node:crypto';
import { chmod, chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { ACCESS_TOKEN_SECONDS } from './access-tokens.ts';
import type { KeyFile, SigningJwk, VerificationJwk } from './key-file.ts';
import { JWKS_CACHE_SECONDS } from './signing-keys.ts';

type Rotation = {
  now: Date;
  /** Ends the old keys at once, because somebody else may know the signing key. */
  endsNow?: boolean;
};

/**
 * Returns the keys with a new first key and the same root, so that refresh tokens, codes and sealed secrets stay valid.
 * The old keys lose their private members and end once their last token has ended and no verifier caches the old JWKS.
 */
export async function rotateKeys(file: KeyFile, { now, endsNow = false }: Rotation): Promise<KeyFile> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const lastTokenEnds = nowSeconds + ACCESS_TOKEN_SECONDS + JWKS_CACHE_SECONDS;
  const { kid, algorithm, jwk } = file.signing;
  const others: VerificationJwk[] = [{ kid, algorithm, jwk, endsAt: null }, ...file.others].map((key) => ({
    ...key,
    endsAt: Math.min(key.endsAt ?? Infinity, lastTokenEnds),
  }));
  return {
    signing: await generateSigningKey(file.signing.algorithm),
    others: endsNow ? [] : others.filter((key) => key.endsAt! > nowSeconds),
    root: file.root,
  };
}

async function generateSigningKey(algorithm: SigningJwk['algorithm']): Promise<SigningJwk> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const [privateJwk, publicJwk] = await Promise.all([exportJWK(pair.privateKey), exportJWK(pair.publicKey)]);
  const kid = await calculateJwkThumbprint(publicJwk);
  const jwk = { ...publicJwk, kid, alg: algorithm, use: 'sig', key_ops: ['verify'] };
  return { kid, algorithm, jwk, privateJwk, endsAt: null };
}

/** Atomic: a server that reads the file meanwhile sees the old or the new keys. Keeps the owner and the mode. */
export async function replaceKeyFile(file: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  const temporary = `${file}.${randomUUID()}`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    // An operator may run the command as another user than the server, which must still be able to read the file.
    if (process.getuid?.() !== uid || process.getgid?.() !== gid) await chown(temporary, uid, gid);
    await chmod(temporary, mode & 0o777);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @param transaction the one that has read the keys, under a lock against other rotations */
export async function replaceStoredKeys(transaction: AsService, text: string, now: Date): Promise<void> {
  await transaction.run(queryBuilder.updateTable('auth.signing_keys').set({ key_set: text, rotated_at: now }));
}
