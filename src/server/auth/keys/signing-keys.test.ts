import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { parseKeyFile, writeKeyFile } from './key-file.ts';
import { replaceKeyFile, rotateKeys } from './rotate-key.ts';
import { loadSigningKeys, readKeyFile } from './signing-keys.ts';
import type { SigningKeys } from './signing-keys.ts';

let dataDir: string;
let file: string;
let lines: string[];
let aheadMs: number;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-keys-'));
  file = join(dataDir, 'signing-key.json');
  lines = [];
  aheadMs = 0;
});
afterEach(() => rm(dataDir, { recursive: true }));

const clock = { now: () => new Date(Date.now() + aheadMs) };
const load = (signingKeyFile: string | null = null): Promise<SigningKeys> =>
  loadSigningKeys({ signingKeyFile, dataDir, clock, log: createLog('info', { write: (line) => lines.push(line) }) });
const rotate = async (endsNow = false): Promise<void> =>
  replaceKeyFile(file, writeKeyFile(await rotateKeys(await readKeyFile(file), { now: clock.now(), endsNow })));
const kidOf = async (keys: SigningKeys): Promise<string> => decodeProtectedHeader(await keys.sign({})).kid!;
const publishedKids = async (keys: SigningKeys) => (await keys.publish()).keys.map(({ kid }) => kid);
const newEcText = (): string =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));

test('generates one key when several processes start concurrently', async () => {
  const loaded = await Promise.all([1, 2, 3, 4].map(() => load()));
  expect(new Set(await Promise.all(loaded.map(kidOf))).size).toBe(1);
  expect(new Set(loaded.map((keys) => keys.deriveSecret('refresh-tokens').toString('hex'))).size).toBe(1);
  expect(loaded[0]!.deriveSecret('refresh-tokens')).not.toEqual(loaded[0]!.deriveSecret('one-time-codes'));
  const stored = JSON.parse(await readFile(file, 'utf8'));
  expect(JSON.stringify(await loaded[0]!.publish())).not.toContain(stored.d);
  expect(await readdir(dataDir)).toEqual(['signing-key.json']);
});

test('publishes the key that verifies its tokens', async () => {
  const keys = await load();
  const { payload } = await jwtVerify(await keys.sign({ sub: 'ana' }), createLocalJWKSet(await keys.publish()));
  expect(payload.sub).toBe('ana');
  expect((await keys.publish()).keys[0]).toMatchObject({ use: 'sig', alg: 'ES256', key_ops: ['verify'] });
});

test('rejects an unusable key with an error that names the file and never quotes the key', async () => {
  await writeFile(file, 'secret, not JSON');
  const loading = load(file);
  await expect(loading).rejects.toThrow(`The signing key ${file} cannot be used: it is neither`);
  await expect(loading).rejects.not.toThrow('secret');
});

test.each(['EC', 'RSA'])(
  'a rotated %s key keeps every derived secret and verifies old tokens until they end',
  async (type) => {
    if (type === 'RSA') {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    }
    const before = await load();
    const oldToken = await before.sign({ sub: 'ana' });
    const oldKid = await kidOf(before);
    await rotate();

    const after = await load();
    const newKid = await kidOf(after);
    expect(newKid).not.toBe(oldKid);
    expect(await publishedKids(after)).toEqual([newKid, oldKid]);
    await jwtVerify(oldToken, createLocalJWKSet(await after.publish()));
    for (const purpose of ['refresh-tokens', 'factors', 'known-devices'] as const) {
      expect(after.deriveSecret(purpose)).toEqual(before.deriveSecret(purpose));
    }
    expect(JSON.stringify(await after.publish())).not.toContain('"oct"');

    // The access tokens live an hour, the JWKS is cached for ten minutes.
    aheadMs = 3_600_000 + 570_000;
    expect(await after.find({ kid: oldKid })).not.toBeNull();
    aheadMs += 40_000;
    expect(await after.find({ kid: oldKid })).toBeNull();
    expect(await publishedKids(after)).toEqual([newKid]);

    await rotate();
    const file2 = await readKeyFile(file);
    expect(file2.others.map(({ kid }) => kid)).toEqual([newKid]);
    expect((await load()).deriveSecret('factors')).toEqual(before.deriveSecret('factors'));
  },
);

test('a rotation for a leaked key ends the old keys at once', async () => {
  const oldKid = await kidOf(await load());
  await rotate(true);
  const keys = await load();
  expect(await keys.find({ kid: oldKid })).toBeNull();
  expect(await publishedKids(keys)).toHaveLength(1);
});

test('a rotated file keeps its mode and has no private member of an old key', async () => {
  await load();
  const old = await parseKeyFile(await readFile(file, 'utf8'));
  await chmod(file, 0o640);
  await rotate();
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  expect(await readdir(dataDir)).toEqual(['signing-key.json']);
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
  expect(keys.find(({ kid }) => kid === old.signing.kid)).not.toHaveProperty('d');
});

test('a running server signs with the new key within ten seconds', async () => {
  const keys = await load();
  const oldKid = await kidOf(keys);
  await rotate();
  expect(await kidOf(keys)).toBe(oldKid);
  aheadMs = 10_000;
  expect(await kidOf(keys)).not.toBe(oldKid);
  expect(keys.version).toBe(1);
});

test('a running server looks for an unknown key id in the file at most once a second', async () => {
  const keys = await load();
  await rotate();
  const newKid = await kidOf(await load());
  expect(await keys.find({ kid: newKid })).toBeNull();
  aheadMs = 1_000;
  const found = await Promise.all([
    keys.find({ kid: newKid }),
    keys.find({ kid: newKid }),
    keys.find({ kid: 'other' }),
  ]);
  expect(found.map((key) => key !== null)).toEqual([true, true, false]);
  expect(keys.version).toBe(1);
});

test.each([
  ['broken', () => 'secret, not JSON', 'it is neither'],
  ['replaced by an unrelated key', newEcText, 'derives other secrets: restart to use it'],
])('a running server keeps its keys when the file is %s, and logs it once', async (_what, content, reason) => {
  const keys = await load();
  const kid = await kidOf(keys);
  await writeFile(file, content());
  for (let checks = 0; checks < 3; checks += 1) {
    aheadMs += 10_000;
    expect(await kidOf(keys)).toBe(kid);
  }
  expect(lines.filter((line) => line.includes(reason))).toHaveLength(1);
  expect(lines.join('')).not.toContain('secret,');
});
