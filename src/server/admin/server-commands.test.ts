import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { setUpAdmin, type CommandResult } from '../../../tests/support/commands/admin-commands.ts';

const world = setUpAdmin();

const lastAuditRow = async (): Promise<unknown> => {
  const { rows } = await world.database.admin.query<object>(
    'select event, actor, details from auth.audit_log order by id desc',
  );
  return rows[0];
};

test('key:create prints one line that the server accepts', async () => {
  const key = JSON.parse((await world.admin('key:create')).stdout) as Record<string, unknown>;
  expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', d: expect.any(String) });
});

describe.each(['file', 'database'] as const)('the signing key in the %s', (place) => {
  const file = (): string => join(world.dataDir, 'operators-key.json');
  const settings = () => (place === 'file' ? { AUTH_SIGNING_KEY_FILE: file() } : {});
  const run = (...args: string[]): Promise<CommandResult> => world.adminWith(settings(), ...args);
  const readStored = async (): Promise<string> => {
    if (place === 'file') return readFile(file(), 'utf8');
    const { rows } = await world.database.admin.query<{ key_set: string }>('select key_set from auth.signing_keys');
    return rows[0]!.key_set;
  };
  const readKids = async (): Promise<string[]> =>
    (JSON.parse(await readStored()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  beforeEach(async () => {
    await world.database.admin.query('delete from auth.signing_keys');
    if (place === 'file') await writeFile(file(), (await world.admin('key:create')).stdout);
    else await world.admin('service-token');
  });

  test('signs a service token, which the audit log names', async () => {
    const { stdout } = await run('service-token', '--days', '7');
    const { exp = 0, iat = 0, jti, ...claims } = decodeJwt(stdout.trim());
    expect(claims).toEqual({ iss: 'http://localhost:3000/auth/v1', role: 'service_role' });
    expect(exp - iat).toBe(7 * 24 * 3_600);
    expect(await lastAuditRow()).toEqual({
      event: 'service_token_created',
      actor: 'operator',
      details: { id: jti, days: 7 },
    });
  });

  test('is rotated where it is stored, and the audit log names the new key', async () => {
    const oldKid = decodeProtectedHeader((await run('service-token')).stdout.trim()).kid;
    const { code, stdout } = await run('key:rotate');
    const [newKid, ...kids] = await readKids();
    expect({ code, kids }).toEqual({ code: 0, kids: [oldKid, 'secrets'] });
    expect(stdout).toMatch(new RegExp(`the key ${newKid} .*\\nThe old keys end at 2.*Z\\.`));
    expect(decodeProtectedHeader((await run('service-token')).stdout.trim()).kid).toBe(newKid);
    await run('key:rotate', '--now');
    expect(await readKids()).toEqual([expect.any(String), 'secrets']);
    expect(await lastAuditRow()).toMatchObject({ event: 'key_rotated', details: { endsNow: true, printed: false } });
  });

  test('is printed and not stored with --print', async () => {
    const before = await readStored();
    const { stdout } = await run('key:rotate', '--print');
    expect((JSON.parse(stdout) as { keys: unknown[] }).keys).toHaveLength(3);
    expect(await readStored()).toBe(before);
  });

  test('cannot be rotated before the first start', async () => {
    if (place === 'file') await rm(file());
    else await world.database.admin.query('delete from auth.signing_keys');
    expect(await run('key:rotate')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no (signing )?keys? ?/) });
  });
});

const countWaiting = async (): Promise<number | null> =>
  (
    await world.database.admin.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount;

test('two concurrent rotations keep the new key of each other', async () => {
  await world.database.admin.query('delete from auth.signing_keys');
  const before = decodeProtectedHeader((await world.admin('service-token')).stdout.trim()).kid;
  const other = await world.database.admin.connect();
  try {
    // This lock lets reads pass and makes writes wait. So without the advisory lock, both rotations would have read the
    // same keys before either writes.
    await other.query('begin; lock table auth.signing_keys in exclusive mode');
    const rotations = [world.admin('key:rotate'), world.admin('key:rotate')];
    await expect.poll(countWaiting, { timeout: 20_000 }).toBe(2);
    await other.query('commit');
    await Promise.all(rotations);
  } finally {
    other.release();
  }
  const { rows } = await world.database.admin.query<{ key_set: string }>('select key_set from auth.signing_keys');
  const { keys } = JSON.parse(rows[0]!.key_set) as { keys: { kid: string }[] };
  expect(keys.map(({ kid }) => kid)).toEqual([expect.any(String), expect.any(String), before, 'secrets']);
});

describe('key:forget', () => {
  const file = (): string => join(world.dataDir, 'moved-key.json');
  const forget = (settings: Record<string, string> = {}): Promise<CommandResult> =>
    world.adminWith(settings, 'key:forget');
  const isStored = async (): Promise<boolean> =>
    (await world.database.admin.query('select from auth.signing_keys')).rowCount === 1;
  beforeEach(() => world.admin('service-token'));

  test('removes the keys from the database once the file derives the same secrets', async () => {
    await writeFile(file(), (await world.admin('key:rotate', '--print')).stdout);
    expect(await forget({ AUTH_SIGNING_KEY_FILE: file() })).toMatchObject({ code: 0 });
    expect(await isStored()).toBe(false);
    expect(await lastAuditRow()).toMatchObject({ event: 'key_forgotten', actor: 'operator' });
  });

  test('leaves the keys in the database if the file derives other secrets or is not set', async () => {
    await writeFile(file(), (await world.admin('key:create')).stdout);
    expect(await forget({ AUTH_SIGNING_KEY_FILE: file() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('derives other secrets'),
    });
    expect(await forget()).toMatchObject({ code: 1, stderr: expect.stringContaining('Set AUTH_SIGNING_KEY_FILE') });
    expect(await isStored()).toBe(true);
  });
});
