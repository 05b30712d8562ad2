import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnusableKeyError, parseKeyFile, writeKeyFile, type KeyFile } from './key-file.ts';

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'];
const newEcJwk = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const ec = newEcJwk();
const otherEc = newEcJwk();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const publicEc = { kty: ec.kty, crv: ec.crv, x: ec.x, y: ec.y };

const pem = (jwk: typeof ec, type: 'pkcs8' | 'sec1' | 'pkcs1'): string =>
  createPrivateKey({ key: jwk, format: 'jwk' }).export({ type, format: 'pem' }).toString();

const parse = (content: unknown): Promise<KeyFile> =>
  parseKeyFile(typeof content === 'string' ? content : JSON.stringify(content));

test.each([
  ['a JWK', JSON.stringify(ec)],
  ['a JWK with a byte order mark', `\uFEFF${JSON.stringify(ec)}\r\n`],
  ['a JWK of a WebCrypto export', JSON.stringify({ ...ec, alg: 'ES256', ext: true, key_ops: ['sign', 'verify'] })],
  ['a JWK set', JSON.stringify({ keys: [ec] })],
  ['a list of JWKs', JSON.stringify([ec])],
  ['PKCS#8', pem(ec, 'pkcs8')],
  ['SEC1', pem(ec, 'sec1')],
  [
    'SEC1 with curve parameters and a comment',
    `key\n-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem(ec, 'sec1')}`,
  ],
])('reads the same key from %s', async (_form, text) => {
  const expected = await parse(ec);
  const { signing, root, others } = await parse(text);
  expect(signing).toEqual(expected.signing);
  expect(root).toEqual(expected.root);
  expect(others).toEqual([]);
});

test.each(['pkcs1', 'pkcs8'] as const)('reads the same RSA key from a JWK and from %s', async (type) => {
  const { signing } = await parse(pem(rsa, type));
  expect(signing).toEqual((await parse(rsa)).signing);
  expect(signing.algorithm).toBe('RS256');
});

test('signs with the first key of a set and verifies with all keys', async () => {
  const { signing, others } = await parse({ keys: [{ ...ec, kid: 'new' }, { ...otherEc, exp: 1_900_000_000 }, rsa] });
  expect(signing.kid).toBe('new');
  expect(others.map(({ algorithm, endsAt }) => ({ algorithm, endsAt }))).toEqual([
    { algorithm: 'ES256', endsAt: 1_900_000_000 },
    { algorithm: 'RS256', endsAt: null },
  ]);
});

const secret = (bytes: number) => ({ kty: 'oct', kid: 'secrets', k: Buffer.alloc(bytes, 7).toString('base64url') });

test('takes the root of the secrets from the key named secrets, else from the first key', async () => {
  expect((await parse([ec, otherEc])).root).toEqual(Buffer.from(ec.d!, 'base64url'));
  expect((await parse([ec, secret(32)])).root).toEqual(Buffer.alloc(32, 7));
});

test.each([
  ['', 'it is neither a private JWK, a JWK set nor a PEM key'],
  ['"secret"', 'it is neither a private JWK, a JWK set nor a PEM key'],
  [[ec, 'secret'], 'it is neither a private JWK, a JWK set nor a PEM key'],
  [{ keys: [] }, 'it holds no signing key'],
  [{ keys: [secret(32)] }, 'it holds no signing key'],
  [publicEc, 'its first key has no private member'],
  [[publicEc, ec], 'its first key has no private member'],
  [{ ...ec, key_ops: ['verify'] }, "its first key's key_ops do not include sign"],
  [{ ...ec, y: undefined }, 'its first key is invalid'],
  [{ ...ec, d: 'AAAA' }, "its first key's public and private members do not match"],
  [{ ...ec, x: otherEc.x, y: otherEc.y }, "its first key's public and private members do not match"],
  [{ ...ec, use: 'enc' }, 'the use of a key is not sig'],
  [{ ...ec, alg: 'HS256' }, 'the algorithm of a key is neither ES256 nor RS256'],
  [{ ...ec, kty: 'oct', k: 'secret' }, 'the algorithm of a key is neither ES256 nor RS256'],
  [{ ...ec, crv: 'P-384' }, 'ES256 needs a P-256 key'],
  [{ ...ec, alg: 'RS256' }, 'RS256 needs an RSA key'],
  [{ ...ec, kid: 7 }, 'the kid of a key is no text'],
  [[ec, { ...publicEc, x: 'AAAA' }], 'one of its keys is invalid'],
  [[ec, { ...otherEc, exp: 'soon' }], 'the exp of a key is no number'],
  [[ec, ec], 'two of its keys have the same kid'],
  [[ec, secret(31)], 'its key "secrets" has fewer than 32 bytes'],
  [[ec, secret(32), secret(33)], 'it has more than one key named "secrets"'],
  [pem(ec, 'pkcs8') + pem(otherEc, 'pkcs8'), 'it holds more than one PEM key: use a JWK set'],
  [
    '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
    'it is neither a private JWK, a JWK set nor a PEM key',
  ],
  ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'it holds no private key'],
  [
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
    'it is encrypted with a passphrase',
  ],
])('rejects %j', async (content, reason) => {
  await expect(parse(content)).rejects.toThrow(new UnusableKeyError(reason));
});

test('rejects an RSA key that is too short', async () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'jwk' });
  await expect(parse(short)).rejects.toThrow('an RSA key has fewer than 2048 bits');
});

/** Parses the file. Null for an UnusableKeyError, which must not quote the file; fails the test on any other error. */
async function parseSafely(text: string): Promise<KeyFile | null> {
  try {
    return await parseKeyFile(text);
  } catch (error) {
    expect(error).toBeInstanceOf(UnusableKeyError);
    expect((error as Error).cause).toBeUndefined();
    for (const value of [ec.d!, ec.x!]) expect((error as Error).message).not.toContain(value);
    return null;
  }
}

const jsonValue = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(ec), ...Object.values(rsa)));
const changedKey = fc
  .record({
    base: fc.constantFrom<object>(ec, otherEc, rsa, publicEc, secret(32)),
    change: fc.dictionary(
      fc.constantFrom('kty', 'crv', 'x', 'y', 'd', 'n', 'e', 'k', 'kid', 'alg', 'use', 'key_ops', 'exp', '__proto__'),
      jsonValue,
      { maxKeys: 2 },
    ),
  })
  .map(({ base, change }) => ({ ...base, ...change }));

test('reads any changed set or throws an UnusableKeyError, and publishes no private member', async () => {
  const property = fc.asyncProperty(fc.array(fc.oneof(changedKey, jsonValue), { maxLength: 3 }), async (keys) => {
    const file = await parseSafely(JSON.stringify({ keys }));
    if (!file) return;
    expect(file.root.length).toBeGreaterThanOrEqual(32);
    for (const { jwk } of [file.signing, ...file.others]) {
      for (const name of PRIVATE_MEMBERS) expect(jwk).not.toHaveProperty(name);
    }
    expect(await parseKeyFile(writeKeyFile(file))).toEqual(file);
  });
  await fc.assert(property, { numRuns: 300 });
});

test('reads any text or throws an UnusableKeyError', async () => {
  const cut = fc
    .tuple(fc.constantFrom(JSON.stringify(ec), pem(ec, 'sec1'), pem(rsa, 'pkcs1')), fc.nat(), fc.nat(), fc.string())
    .map(([text, a, b, insert]) => {
      const at = a % text.length;
      return text.slice(0, at) + insert + text.slice(at + (b % 8));
    });
  const property = fc.asyncProperty(
    fc.oneof(cut, fc.string(), fc.json()),
    async (text) => void (await parseSafely(text)),
  );
  await fc.assert(property, { numRuns: 300 });
});
