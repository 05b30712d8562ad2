import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newKeyPair } from '../../../simulators/saml/key-pair.ts';
import { configOf, lines, run } from '../../../tests/support/commands/doctor-checks.ts';
import { generateJwk } from '../auth/keys/stored-keys.ts';
import { backupName, writeSummary } from '../backup/folder.ts';
import { fault, warning } from './check.ts';
import { backupCheck, diskCheck, keysCheck, permissionsCheck } from './files-checks.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-doctor-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('diskCheck warns of little free space', async () => {
  const check = (freeBytes: number) =>
    run(
      diskCheck(configOf({ DATA_DIR: dataDir }), (() =>
        Promise.resolve({ bsize: 1, bavail: freeBytes, blocks: 100e9 })) as never),
    );
  expect(lines(await check(50e9))).toEqual([`ok 50.0 GB of 100.0 GB are free for the database (${dataDir})`]);
  expect(lines(await check(1.9e9))[0]).toMatch(/^warning 1\.9 GB of/);
  expect(lines(await check(0.1e9))[0]).toMatch(/^fault 100\.0 MB of/);
});

test('diskCheck names a DATA_DIR that is a file', async () => {
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  const findings = await run(diskCheck(configOf({ DATA_DIR: file })));
  expect(lines(findings)).toEqual([`fault ${file} is not a folder`]);
});

test('permissionsCheck names keys and folders that other users can read', async () => {
  const key = join(dataDir, 'key.json');
  await writeFile(key, '{}');
  await chmod(key, 0o644);
  const config = configOf({ DATA_DIR: dataDir, AUTH_SIGNING_KEY_FILE: key });
  expect(await run(permissionsCheck(config))).toEqual([fault(`other users can read ${key} (644)`, `chmod 600 ${key}`)]);
  await chmod(key, 0o600);
  expect((await run(permissionsCheck(config)))[0]!.status).toBe('ok');
  await chmod(dataDir, 0o755);
  expect(await run(permissionsCheck(config))).toEqual([
    warning(`${dataDir} is open to other users (755)`, `chmod 700 ${dataDir}`),
  ]);
  await chmod(dataDir, 0o700);
});

test('keysCheck names a file of signing keys that is missing or cannot be used', async () => {
  const file = join(dataDir, 'key.json');
  const check = async () => lines(await run(keysCheck(configOf({ AUTH_SIGNING_KEY_FILE: file }))));
  expect(await check()).toEqual([`fault There is no key at ${file} (AUTH_SIGNING_KEY_FILE).`]);
  await writeFile(file, 'not a key');
  expect(await check()).toEqual([
    `fault The signing key ${file} (AUTH_SIGNING_KEY_FILE) cannot be used: it is neither a private JWK, a JWK set nor a PEM key`,
  ]);
  await writeFile(file, JSON.stringify(await generateJwk()));
  expect(await check()).toEqual([`ok the signing keys are in ${file}`]);
});

test('keysCheck names a key of SAML that cannot be used, and a certificate that has expired or will soon', async () => {
  const file = join(dataDir, 'saml.pem');
  const { privateKey, certificate } = await newKeyPair('journal.example.com');
  await writeFile(file, privateKey + certificate);
  const check = async () => lines(await run(keysCheck(configOf({ AUTH_SAML_KEY_FILE: file }))))[0];
  expect(await check()).toMatch(/^ok the certificate of SAML is valid for \d+ days$/);
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2055-12-27') });
  try {
    expect(await check()).toBe('warning the certificate of SAML expires in 5 days');
    vi.setSystemTime('2056-01-11');
    expect(await check()).toBe('warning the certificate of SAML expired 10 days ago');
  } finally {
    vi.useRealTimers();
  }
  await writeFile(file, privateKey);
  expect(await check()).toBe(`fault The SAML key ${file} (AUTH_SAML_KEY_FILE) cannot be used: it holds no certificate`);
  await rm(file);
  expect(await check()).toBe(`fault The SAML key ${file} (AUTH_SAML_KEY_FILE) cannot be read (ENOENT).`);
});

test('backupCheck names a public age key with which every backup would fail', async () => {
  const config = configOf({ DATA_DIR: dataDir, BACKUP_AGE_RECIPIENT: 'age1wrong' });
  expect(lines(await run(backupCheck(config, () => new Date())))).toEqual([
    expect.stringMatching(/^fault BACKUP_AGE_RECIPIENT cannot be used: "age1wrong" is no public age key/),
  ]);
});

test('backupCheck judges the newest backup by its age, its size and its encryption', async () => {
  const dir = join(dataDir, 'backups');
  const config = configOf({ DATA_DIR: dataDir, BACKUP_DIR: dir });
  const now = () => new Date();
  const ageOf = async (hours: number, bytes = 3, encrypted = true): Promise<string> => {
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { mode: 0o700 });
    const createdAt = new Date(Date.now() - hours * 3_600_000);
    const file = join(dir, backupName(createdAt, encrypted));
    await writeFile(file, 'abc');
    const at = createdAt.toISOString();
    await writeSummary(file, { createdAt: at, finishedAt: at, program: '1', encrypted, bytes, sha256: '', rows: 1 });
    return lines(await run(backupCheck(config, now)))[0]!;
  };
  expect(lines(await run(backupCheck(config, now)))).toEqual([`warning there is no backup in ${dir}`]);
  expect(await ageOf(20)).toMatch(/^ok the newest of 1 backups is 20 hours old/);
  expect(await ageOf(30)).toMatch(/^warning the newest of 1 backups is 30 hours old/);
  expect(await ageOf(200)).toMatch(/^fault the newest of 1 backups is 8 days old/);
  expect(await ageOf(20, 4)).toMatch(/^fault .* has 3 bytes instead of 4$/);
  expect(await ageOf(20, 3, false)).toMatch(/^warning .* and it is not encrypted$/);
  await rm(
    `${join(
      dir,
      (await readdir(dir)).find((name) => !name.endsWith('.json'))!,
    )}.json`,
  );
  expect(lines(await run(backupCheck(config, now)))[0]).toMatch(/^warning .*, without .*\.json beside it$/);
});
