import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, latestToday } from '#domain/day/day.ts';
import { createTestDatabase } from '../../tests/support/test-database.ts';
import { runAdminCommand } from './admin.ts';

const EMAIL = 'ada@example.com';
let world: Awaited<ReturnType<typeof createTestDatabase>>;
let dataDir: string;

beforeAll(async () => {
  world = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-admin-'));
  await world.admin.query(`insert into auth.users (email, created_at, updated_at) values ($1, now(), now())`, [EMAIL]);
});
afterAll(async () => {
  await world.drop();
  await rm(dataDir, { recursive: true });
});

type Outcome = { code: number; stdout: string; stderr: string };

const environment = () => ({ PATH: process.env['PATH'], DATABASE_URL: world.url, DATA_DIR: dataDir });

/** Runs a command in this process, because starting a process takes longer than most commands. */
const admin = (...args: string[]): Promise<Outcome> => adminWith({}, ...args);
const adminWith = (settings: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  runAdminCommand(args, { ...environment(), ...settings }).then(
    (text) => ({ code: 0, stdout: `${text}\n`, stderr: '' }),
    (error: Error) => ({ code: 1, stdout: '', stderr: `${error.message}\n` }),
  );

/** Runs a command as the operator does: in a process of its own, with settings from the process's environment. */
async function adminProcess(...args: string[]): Promise<Outcome> {
  const env = environment();
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'admin.ts'), ...args], { env });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

async function plan(): Promise<unknown> {
  const { rows } = await world.admin.query<object>(
    `select subscription_plan, access_valid_until::text from public.profiles
     join auth.users using (id) where email = $1`,
    [EMAIL],
  );
  return rows[0];
}

test('a plan is granted without end, for some days, and taken back; the ledger keeps each step', async () => {
  expect(await admin('plan:grant', EMAIL)).toMatchObject({ code: 0, stdout: `${EMAIL} is a Closer without end.\n` });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: null });
  expect(await admin('plan:revoke', EMAIL)).toMatchObject({ code: 0 });

  const until = addDays(latestToday(new Date()), 30);
  expect(await admin('plan:grant', ` ${EMAIL.toUpperCase()}`, '--days', '30')).toMatchObject({ code: 0 });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: until });

  expect(await admin('plan:revoke', EMAIL)).toMatchObject({ code: 0, stdout: `${EMAIL} is a Dabbler.\n` });
  expect(await plan()).toEqual({ subscription_plan: 'free', access_valid_until: null });

  const { rows } = await world.admin.query(
    'select plan, access_valid_until::text, reason from plan_changes order by id',
  );
  expect(rows).toEqual([
    { plan: 'premium', access_valid_until: null, reason: 'operator grant' },
    { plan: 'free', access_valid_until: null, reason: 'operator revocation' },
    { plan: 'premium', access_valid_until: until, reason: 'operator grant' },
    { plan: 'free', access_valid_until: null, reason: 'operator revocation' },
  ]);
});

test('days that are granted shorten no plan; without end is longer than any', async () => {
  const inDays = (days: number): string => addDays(latestToday(new Date()), days);
  const grantDays = (days: number) => admin('plan:grant', EMAIL, '--days', String(days));
  const steps = async () => (await world.admin.query('select 1 from plan_changes')).rowCount;
  await admin('plan:revoke', EMAIL);
  await grantDays(30);
  expect(await grantDays(40)).toMatchObject({ stdout: `${EMAIL} is a Closer until ${inDays(40)}.\n` });
  const before = await steps();
  expect(await grantDays(20)).toMatchObject({
    code: 0,
    stdout: `${EMAIL} stays a Closer until ${inDays(40)}, which is later than ${inDays(20)}: nothing changes.\n`,
  });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: inDays(40) });
  expect(await steps()).toBe(before);

  await admin('plan:grant', EMAIL);
  expect(await grantDays(20)).toMatchObject({
    stdout: `${EMAIL} stays a Closer without end, which is later than ${inDays(20)}: nothing changes.\n`,
  });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: null });
});

describe('as a process', () => {
  test.each([
    [['plan:grant', EMAIL], /^ada@example\.com is a Closer without end\.\n$/],
    [['key:rotate', '--print'], /^\{\n[^]*\n\}\n$/],
  ] as const)('%j prints its result alone', async (args, words) => {
    await admin('service-token');
    expect(await adminProcess(...args)).toEqual({ code: 0, stdout: expect.stringMatching(words), stderr: '' });
  });

  test.each([
    [['plan:grants', EMAIL], /^Commands:\n {2}user:show/],
    [['plan:grant', 'nobody@example.com'], /^There is no account with the address nobody@example\.com\.\n$/],
  ] as const)('%j prints why it fails, without a stack', async (args, words) => {
    expect(await adminProcess(...args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(words) });
  });
});

test.each([
  [[], 'Commands:'],
  [['plan:grant'], 'Commands:'],
  [['plan:grant', EMAIL, 'more'], 'Commands:'],
  [['plan:grants', EMAIL], 'Commands:'],
  [['key:create', EMAIL], 'Commands:'],
  [['plan:revoke', EMAIL, '--days', '3'], 'plan:revoke takes no --days'],
  [['service-token', '--days', '367'], '--days must be a whole number from 1 to 366'],
  [['plan:grant', EMAIL, '--years', '1'], '--years'],
  [['plan:grant', EMAIL, '--days', '0'], '--days must be a whole number'],
  [['plan:grant', 'nobody@example.com'], 'There is no account with the address nobody@example.com.'],
])('%j is refused in words', async (args, words) => {
  const { code, stderr } = await admin(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(words);
});

test('key:create prints one line that the server accepts', async () => {
  const key = JSON.parse((await admin('key:create')).stdout) as Record<string, unknown>;
  expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', d: expect.any(String) });
});

const countWaiting = async (): Promise<number | null> =>
  (
    await world.admin.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount;

const lastAuditRow = async (): Promise<unknown> => {
  const { rows } = await world.admin.query<object>('select event, actor, details from auth.audit_log order by id desc');
  return rows[0];
};

test('migrations:finish says that nothing is left', async () => {
  expect((await admin('migrations:finish')).stdout).toBe('No migration is left to apply.\n');
});

test('help lists every command', async () => {
  const { stdout } = await admin('help');
  for (const command of ['plan:grant', 'refund', 'key:rotate']) expect(stdout).toContain(`  ${command} `);
});

describe.each(['file', 'database'] as const)('the signing key in the %s', (place) => {
  const file = (): string => join(dataDir, 'operators-key.json');
  const settings = () => (place === 'file' ? { AUTH_SIGNING_KEY_FILE: file() } : {});
  const run = (...args: string[]): Promise<Outcome> => adminWith(settings(), ...args);
  const readStored = async (): Promise<string> => {
    if (place === 'file') return readFile(file(), 'utf8');
    const { rows } = await world.admin.query<{ key_set: string }>('select key_set from auth.signing_keys');
    return rows[0]!.key_set;
  };
  const readKids = async (): Promise<string[]> =>
    (JSON.parse(await readStored()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  beforeEach(async () => {
    await world.admin.query('delete from auth.signing_keys');
    if (place === 'file') await writeFile(file(), (await admin('key:create')).stdout);
    else await admin('service-token');
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
    else await world.admin.query('delete from auth.signing_keys');
    expect(await run('key:rotate')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no (signing )?keys? ?/) });
  });
});

test('two rotations at the same moment keep the keys of each other', async () => {
  await world.admin.query('delete from auth.signing_keys');
  const before = decodeProtectedHeader((await admin('service-token')).stdout.trim()).kid;
  const other = await world.admin.connect();
  try {
    // Readers pass, writers wait.
    await other.query('begin; lock table auth.signing_keys in exclusive mode');
    const rotations = [admin('key:rotate'), admin('key:rotate')];
    await expect.poll(countWaiting).toBe(2);
    await other.query('commit');
    await Promise.all(rotations);
  } finally {
    other.release();
  }
  const { rows } = await world.admin.query<{ key_set: string }>('select key_set from auth.signing_keys');
  const { keys } = JSON.parse(rows[0]!.key_set) as { keys: { kid: string }[] };
  expect(keys.map(({ kid }) => kid)).toEqual([expect.any(String), expect.any(String), before, 'secrets']);
});

describe('key:forget', () => {
  const file = (): string => join(dataDir, 'moved-key.json');
  const forget = (settings: Record<string, string> = {}): Promise<Outcome> => adminWith(settings, 'key:forget');
  const isStored = async (): Promise<boolean> =>
    (await world.admin.query('select from auth.signing_keys')).rowCount === 1;
  beforeEach(() => admin('service-token'));

  test('removes the keys from the database once the file derives the same secrets', async () => {
    await writeFile(file(), (await admin('key:rotate', '--print')).stdout);
    expect(await forget({ AUTH_SIGNING_KEY_FILE: file() })).toMatchObject({ code: 0 });
    expect(await isStored()).toBe(false);
    expect(await lastAuditRow()).toMatchObject({ event: 'key_forgotten', actor: 'operator' });
  });

  test('leaves them where the file derives other secrets or is not set', async () => {
    await writeFile(file(), (await admin('key:create')).stdout);
    expect(await forget({ AUTH_SIGNING_KEY_FILE: file() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('derives other secrets'),
    });
    expect(await forget()).toMatchObject({ code: 1, stderr: expect.stringContaining('Set AUTH_SIGNING_KEY_FILE') });
    expect(await isStored()).toBe(true);
  });
});

describe('a payment', () => {
  let id = '';
  beforeEach(async () => {
    const { rows } = await world.admin.query<{ id: string }>(
      `insert into payments (user_id, amount_minor, currency, country, status, order_id, completed_at)
       select id, 2400, 'USD', 'DE', 'completed', gen_random_uuid(), now() - interval '3 days' from auth.users
        where email = $1 returning id`,
      [EMAIL],
    );
    id = rows[0]!.id;
  });

  const requested = async (): Promise<boolean> => {
    const { rows } = await world.admin.query('select refund_requested_at from payments where id = $1', [id]);
    return rows[0].refund_requested_at !== null;
  };
  const uses = (kind: string, count: number): Promise<unknown> =>
    world.admin.query(
      'insert into plan_uses (user_id, kind) select id, $2 from auth.users, generate_series(1, $3) where email = $1',
      [EMAIL, kind, count],
    );

  test('is listed with its id', async () => {
    const { code, stdout } = await admin('payments', EMAIL);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\d  24\\.00  USD  completed  DE  `, 'm'));
  });

  test('is given back within the right of withdrawal; without PayPal here, by the server', async () => {
    const { code, stdout } = await admin('refund', id);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '24.00 USD is on its way back: the server asks PayPal within a minute, and until it is done.\n',
    });
    expect(await requested()).toBe(true);
  });

  test('outside of it is given back only anyway', async () => {
    await uses('analysis', 4);
    const refused = await admin('refund', id);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('more than 3 analyses') });
    expect(await requested()).toBe(false);
    expect(await admin('refund', id, '--anyway')).toMatchObject({ code: 0 });
    expect(await requested()).toBe(true);
  });

  test('that is incomplete or unknown is not refunded', async () => {
    await world.admin.query("update payments set status = 'refunded' where id = $1", [id]);
    for (const [payment, words] of [
      [id, 'This payment is refunded'],
      ['00000000-0000-4000-8000-000000000001', 'There is no payment'],
      ['24.00', 'names no payment'],
    ] as const) {
      expect(await admin('refund', payment, '--anyway')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(words),
      });
    }
  });
});
