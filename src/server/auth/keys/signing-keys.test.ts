import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { setUpTestDatabase } from '../../../../tests/support/set-up.ts';
import { parseKeyFile, writeKeyFile, databaseKeySource, keySource, readKeys } from './key-file.ts';
import { replaceKeyFile, replaceStoredKeys, rotateKeys } from '../../admin/server-commands.ts';
import { loadSigningKeys, type SigningKeys } from './signing-keys.ts';

const db = setUpTestDatabase();

let dataDir: string;
let lines: string[];
let aheadMs: number;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-keys-'));
  await db.admin.query('delete from auth.signing_keys');
  lines = [];
  aheadMs = 0;
});
afterEach(() => rm(dataDir, { recursive: true }));

const clock = { now: () => new Date(Date.now() + aheadMs) };
const log = createLog('info', { write: (line) => lines.push(line) });
const load = (signingKeyFile: string | null): Promise<SigningKeys> =>
  loadSigningKeys({ signingKeyFile, dataDir, database: db.database, clock, log });
const kidOf = async (keys: SigningKeys): Promise<string> => decodeProtectedHeader(await keys.sign({})).kid!;
const publishedKids = async (keys: SigningKeys) => (await keys.publish()).keys.map(({ kid }) => kid);
const newEcText = (): string =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));

const WAITING = "select from pg_stat_activity where wait_event_type = 'Lock'";

describe('without a file', () => {
  const generatedFile = (): string => join(dataDir, 'signing-key.json');
  const readStored = async (): Promise<string[]> =>
    (await db.admin.query<{ key_set: string }>('select key_set from auth.signing_keys')).rows.map((row) => row.key_set);

  test('several servers that start at the same moment generate one key', async () => {
    const loaded = await Promise.all([1, 2, 3, 4].map(() => load(null)));
    expect(new Set(await Promise.all(loaded.map(kidOf))).size).toBe(1);
    expect(new Set(loaded.map((keys) => keys.deriveSecret('refresh-tokens').toString('hex'))).size).toBe(1);
    expect(loaded[0]!.deriveSecret('refresh-tokens')).not.toEqual(loaded[0]!.deriveSecret('one-time-codes'));
    const [stored] = await readStored();
    expect(JSON.stringify(await loaded[0]!.publish())).not.toContain(JSON.parse(stored!).d);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('a server uses the key that another one stored while it generated its own', async () => {
    const [text, other] = [newEcText(), await db.admin.connect()];
    try {
      // This lock lets `load` read the table, and holds its insert up.
      await other.query('begin; lock table auth.signing_keys in exclusive mode');
      const loading = load(null);
      await expect
        .poll(async () => (await db.admin.query(`${WAITING} and datname = current_database()`)).rowCount)
        .toBe(1);
      await other.query('insert into auth.signing_keys (key_set) values ($1)', [text]);
      await other.query('commit');
      expect(await kidOf(await loading)).toBe((await parseKeyFile(text)).signing.kid);
    } finally {
      other.release();
    }
  });

  test('several servers take over one generated file of an earlier release, and rename it', async () => {
    const text = newEcText();
    await writeFile(generatedFile(), text);
    const loaded = await Promise.all(Array.from({ length: 8 }, () => load(null)));
    expect(new Set(await Promise.all(loaded.map(kidOf)))).toEqual(new Set([(await parseKeyFile(text)).signing.kid]));
    expect(await readStored()).toEqual([text]);
    expect(await readdir(dataDir)).toEqual(['signing-key.json.moved']);
    expect(lines.filter((line) => line.includes('moved the signing keys'))).toHaveLength(1);
    expect(lines.join('')).not.toContain(JSON.parse(text).d);
  });

  test('an unusable generated file is not stored', async () => {
    await writeFile(generatedFile(), 'secret, not JSON');
    await expect(load(null)).rejects.toThrow(`${generatedFile()} cannot be used`);
    expect(await readStored()).toEqual([]);
  });

  test('a database whose accounts depend on lost keys gets no new ones, but takes over a file', async () => {
    await db.admin.query(
      `with person as (insert into auth.users (email) values ('ada@example.com') returning id),
            session as (insert into auth.sessions (user_id) select id from person returning id)
       insert into auth.refresh_tokens (session_id, generation, token_hash, salt)
       select id, 1, sha256('token'), 'salt' from session`,
    );
    try {
      await expect(load(null)).rejects.toThrow('made with signing keys that are not here');
      expect(await readStored()).toEqual([]);
      await writeFile(generatedFile(), newEcText());
      await load(null);
      expect(await readStored()).toHaveLength(1);
    } finally {
      await db.admin.query('delete from auth.users');
    }
  });

  test('a database that does not answer delays a request by a second at most and leaves the keys valid', async () => {
    const keys = await load(null);
    const kid = await kidOf(keys);
    const other = await db.admin.connect();
    try {
      await other.query('begin; lock table auth.signing_keys');
      aheadMs = 10_000;
      expect(await kidOf(keys)).toBe(kid);
      expect(lines.join('')).toContain('the database does not answer');
    } finally {
      await other.query('rollback');
      other.release();
    }
  });

  test('a running server adopts rotated keys although the first read of them failed', async () => {
    await load(null);
    const service = db.database.asService('read the signing keys');
    let failsToRead = false;
    const run: typeof service.run = (query) =>
      failsToRead && !query.compile().sql.includes('md5') ? Promise.reject(new Error('no answer')) : service.run(query);
    const database = { asService: () => ({ ...service, run }) };
    const keys = await loadSigningKeys({ signingKeyFile: null, dataDir, database, clock, log });
    const oldKid = await kidOf(keys);
    await db.admin.query('update auth.signing_keys set key_set = $1', [
      writeKeyFile(await rotateKeys(await readKeys(databaseKeySource(service)), { now: clock.now() })),
    ]);
    failsToRead = true;
    aheadMs = 10_000;
    expect(await kidOf(keys)).toBe(oldKid);
    failsToRead = false;
    aheadMs = 20_000;
    expect(await kidOf(keys)).not.toBe(oldKid);
  });
});

test('rejects an unusable key with an error that names the file and never quotes the key', async () => {
  const file = join(dataDir, 'key.json');
  await writeFile(file, 'secret, not JSON');
  const loading = load(file);
  await expect(loading).rejects.toThrow(
    `The signing key ${file} (AUTH_SIGNING_KEY_FILE) cannot be used: it is neither`,
  );
  await expect(loading).rejects.not.toThrow('secret');
});

test('rejects a missing key file with an error that names the setting', async () => {
  const file = join(dataDir, 'none.json');
  await expect(load(file)).rejects.toThrow(`There is no key at ${file} (AUTH_SIGNING_KEY_FILE).`);
});

test('a rotated file keeps its mode and has no private member of an old key', async () => {
  const file = join(dataDir, 'key.json');
  await writeFile(file, newEcText());
  const old = await parseKeyFile(await readFile(file, 'utf8'));
  await chmod(file, 0o640);
  await replaceKeyFile(file, writeKeyFile(await rotateKeys(old, { now: clock.now() })));
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  expect(await readdir(dataDir)).toEqual(['key.json']);
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, unknown>[] };
  expect(keys.find(({ kid }) => kid === old.signing.kid)).not.toHaveProperty('d');
});

describe.each(['file', 'database'] as const)('keys in the %s', (place) => {
  const file = (): string | null => (place === 'file' ? join(dataDir, 'key.json') : null);
  const read = () => readKeys(keySource({ signingKeyFile: file() }, db.database));
  const loadKeys = () => load(file());
  async function store(text: string): Promise<void> {
    if (place === 'file') return writeFile(file()!, text);
    await db.admin.query(
      'insert into auth.signing_keys (key_set) values ($1) on conflict (is_only_row) do update set key_set = $1',
      [text],
    );
  }
  async function rotate(endsNow = false): Promise<void> {
    if (place === 'file') {
      return replaceKeyFile(file()!, writeKeyFile(await rotateKeys(await read(), { now: clock.now(), endsNow })));
    }
    await db.database.transactAsService('rotate', async (transaction) => {
      const rotated = await rotateKeys(await readKeys(databaseKeySource(transaction)), { now: clock.now(), endsNow });
      await replaceStoredKeys(transaction, writeKeyFile(rotated), clock.now());
    });
  }
  beforeEach(() => store(newEcText()));

  test('publishes the key that verifies its tokens', async () => {
    const keys = await loadKeys();
    const { payload } = await jwtVerify(await keys.sign({ sub: 'ana' }), createLocalJWKSet(await keys.publish()));
    expect(payload.sub).toBe('ana');
    expect((await keys.publish()).keys[0]).toMatchObject({ use: 'sig', alg: 'ES256', key_ops: ['verify'] });
  });

  test.each(['EC', 'RSA'])(
    'a rotated %s key keeps every derived secret and verifies old tokens until they end',
    async (type) => {
      if (type === 'RSA') {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        await store(String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
      }
      const before = await loadKeys();
      const oldToken = await before.sign({ sub: 'ana' });
      const oldKid = await kidOf(before);
      await rotate();

      const after = await loadKeys();
      const newKid = await kidOf(after);
      expect(newKid).not.toBe(oldKid);
      expect(await publishedKids(after)).toEqual([newKid, oldKid]);
      await jwtVerify(oldToken, createLocalJWKSet(await after.publish()));
      for (const purpose of ['refresh-tokens', 'factors', 'known-devices'] as const) {
        expect(after.deriveSecret(purpose)).toEqual(before.deriveSecret(purpose));
      }
      expect(JSON.stringify(await after.publish())).not.toContain('"oct"');

      // The old key must verify for 70 minutes: tokens live an hour, and verifiers cache the JWKS for ten minutes.
      aheadMs = 3_600_000 + 570_000;
      expect(await after.find({ kid: oldKid })).not.toBeNull();
      aheadMs += 40_000;
      expect(await after.find({ kid: oldKid })).toBeNull();
      expect(await publishedKids(after)).toEqual([newKid]);

      await rotate();
      expect((await read()).others.map(({ kid }) => kid)).toEqual([newKid]);
      expect((await loadKeys()).deriveSecret('factors')).toEqual(before.deriveSecret('factors'));
    },
  );

  test('a rotation for a leaked key ends the old keys at once', async () => {
    const oldKid = await kidOf(await loadKeys());
    await rotate(true);
    const keys = await loadKeys();
    expect(await keys.find({ kid: oldKid })).toBeNull();
    expect(await publishedKids(keys)).toHaveLength(1);
  });

  test('a running server signs with the new key within ten seconds', async () => {
    const keys = await loadKeys();
    const oldKid = await kidOf(keys);
    await rotate();
    expect(await kidOf(keys)).toBe(oldKid);
    aheadMs = 10_000;
    expect(await kidOf(keys)).not.toBe(oldKid);
    expect(keys.version).toBe(1);
  });

  test('a running server looks for an unknown key id at most once a second', async () => {
    const keys = await loadKeys();
    await rotate();
    const newKid = await kidOf(await loadKeys());
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
    ['replaced by unrelated ones', newEcText, 'derives other secrets: restart to use it'],
  ])(
    'a running server keeps its keys when those of the source are %s, and logs it once',
    async (_what, content, reason) => {
      const keys = await loadKeys();
      const kid = await kidOf(keys);
      await store(content());
      for (let checks = 0; checks < 3; checks += 1) {
        aheadMs += 10_000;
        expect(await kidOf(keys)).toBe(kid);
      }
      expect(lines.filter((line) => line.includes(reason))).toHaveLength(1);
      expect(lines.join('')).not.toContain('secret,');
    },
  );
});
