import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadSigningKeys } from './signing-keys.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-keys-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('generates one key when several processes start concurrently', async () => {
  const loaded = await Promise.all([1, 2, 3, 4].map(() => loadSigningKeys({ signingKeyFile: null, dataDir })));
  expect(new Set(loaded.map((keys) => keys.kid)).size).toBe(1);
  expect(new Set(loaded.map((keys) => keys.deriveSecret('refresh-tokens').toString('hex'))).size).toBe(1);
  expect(loaded[0]!.deriveSecret('refresh-tokens')).not.toEqual(loaded[0]!.deriveSecret('one-time-codes'));
  const stored = JSON.parse(await readFile(join(dataDir, 'signing-key.json'), 'utf8'));
  expect(JSON.stringify(loaded[0]!.jwks)).not.toContain(stored.d);
  expect(await readdir(dataDir)).toEqual(['signing-key.json']);
});

test.each(['ES256', 'RS256'])('accepts a %s key whose key_ops include sign and verify', async (algorithm) => {
  const file = join(dataDir, 'key.json');
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig', key_ops: ['sign', 'verify'] };
  await writeFile(file, JSON.stringify(jwk));
  const keys = await loadSigningKeys({ signingKeyFile: file, dataDir });
  const { payload } = await jwtVerify(
    await keys.sign({ sub: 'ana' }),
    createLocalJWKSet({ keys: [...keys.jwks.keys] }),
  );
  expect(payload.sub).toBe('ana');
  expect(keys.jwks.keys[0]!.key_ops).toEqual(['verify']);
  await writeFile(file, JSON.stringify({ ...jwk, key_ops: ['verify'] }));
  await expect(loadSigningKeys({ signingKeyFile: file, dataDir })).rejects.toThrow('its key_ops do not include sign');
});

test('rejects an unusable key with an error that names the file and never quotes the key', async () => {
  const file = join(dataDir, 'key.json');
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const { privateKey } = await generateKeyPair('ES384', { extractable: true });
  const contents = [
    'secret, not JSON',
    '{}',
    JSON.stringify(await exportJWK(publicKey)),
    JSON.stringify(await exportJWK(privateKey)),
    '{"kty":"oct","k":"secret","alg":"HS256"}',
  ];
  for (const content of contents) {
    await writeFile(file, content);
    const loading = loadSigningKeys({ signingKeyFile: file, dataDir });
    await expect(loading).rejects.toThrow(`The signing key ${file} cannot be used`);
    await expect(loading).rejects.not.toThrow('secret');
  }
});
