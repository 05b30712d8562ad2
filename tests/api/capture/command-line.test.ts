/** The command line against the real server (docs/specification/capture.md 6). */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ok } from '../auth/factors/factor-client.ts';
import { setUpAuthWorld } from '../auth/fixture.ts';
import { createMachine, type TestMachine } from '../../support/command-line.ts';

const world = setUpAuthWorld();

type User = Awaited<ReturnType<typeof world.signUpUser>>;

/** A machine whose user allows the connection in the browser when the program waits for the first time. */
function machineOf(user: User, options: Parameters<typeof createMachine>[0] = {}): TestMachine {
  let output = '';
  const answer = async (): Promise<void> => {
    const code = /code: ([A-Z-]+)/.exec(output)?.[1];
    if (code === undefined) throw new Error('no code was printed');
    const body = { code, days: 90, time_zone: 'Europe/Vienna' };
    expect((await world.request('POST', '/connect/allow', { token: user.access, body })).status).toBe(204);
  };
  const asked: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.url.endsWith('/device/authorize')) output = `code: ${(await response.clone().json()).user_code}`;
    return response;
  };
  return createMachine({ fetch: asked, sleep: answer, now: () => world.clock.now(), ...options });
}

async function login(user: User, options: Parameters<typeof createMachine>[0] = {}): Promise<TestMachine> {
  const machine = machineOf(user, options);
  expect(await machine.run('login', world.config.publicUrl)).toMatchObject({ exitCode: 0 });
  return machine;
}

const logOf = async ({ id }: User): Promise<string[]> =>
  (
    await world.admin.query<{ content: string }>('select content from entries where user_id = $1 order by date', [id])
  ).rows.map(({ content }) => content.replace(/^.*<\/h\d>|^<p>[^<]*<\/p>/, ''));

test('connects, adds words and shows the day', async () => {
  const ana = await world.signUpUser();
  const machine = machineOf(ana, { env: { DISPLAY: ':0' } });
  const connected = await machine.run('login', world.config.publicUrl);
  expect(connected.stderr).toMatch(/^Open http:\/\/\S+\/connect\?user_code=[A-Z]{4}-[A-Z]{4}\nand allow/);
  expect(connected.stdout).toMatch(/^Connected to http:\/\/\S+ until \d{4}-\d{2}-\d{2}\.\n$/);
  expect(machine.started).toEqual([['xdg-open', expect.stringMatching(/^http:\/\/[^/]+\/connect\?user_code=/)]]);
  const file = join(machine.home, '.config', 'hustle', 'connection.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  expect(await machine.run('Shipped', 'it')).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^Added to \w+ - /),
    stderr: '',
  });
  expect(await machine.pipe('First\n\n  \nSecond\n')).toMatchObject({ exitCode: 0 });
  expect(await machine.run('add', 'today')).toMatchObject({ exitCode: 0 });
  expect(await machine.run('--amend was wrong')).toMatchObject({ exitCode: 0 });
  expect(await machine.run('--', '-5', 'degrees')).toMatchObject({ exitCode: 0 });
  const today = await machine.run('today');
  expect(today.stdout).toMatch(/^\w+ - \w+ \d+, \d{4}\n1\. Shipped it\n2\. First\n3\. Second\n4\. today\n5\. /);
  expect(today.stdout).toContain('--amend was wrong');
  expect(today.stdout).toContain('-5 degrees');
  expect((await machine.run('week', '--markdown')).stdout).toMatch(/^## \w+ - [^\n]+\n\n1\. Shipped it\n/);
  const week = JSON.parse((await machine.run('week', '--json')).stdout);
  expect(week.days).toMatchObject([{ markdown: expect.stringContaining('Shipped it') }]);
  expect((await machine.run('find', 'Second')).stdout).toMatch(/^\d{4}-\d{2}-\d{2} {2}.*Second/);
});

test('logs out, which ends the token', async () => {
  const ana = await world.signUpUser();
  const machine = await login(ana);
  const tokens = async () => ok(await world.request('GET', '/tokens', { token: ana.access })).tokens;
  expect(await tokens()).toMatchObject([{ name: 'hustle on laptop', scopes: ['append', 'read'] }]);
  expect(await machine.run('logout')).toMatchObject({ exitCode: 0 });
  expect(await tokens()).toEqual([]);
  expect(await machine.run('Too late')).toEqual({
    exitCode: 77,
    stdout: '',
    stderr: 'Not added:\nToo late\nhustle: Not connected. Run "hustle login".\n',
  });
  expect(await logOf(ana)).toEqual([]);
});

test('a second login replaces the token of the first', async () => {
  const ana = await world.signUpUser();
  const machine = await login(ana);
  expect(await machine.run('login')).toMatchObject({ exitCode: 0 });
  expect(ok(await world.request('GET', '/tokens', { token: ana.access })).tokens).toHaveLength(1);
  expect(await machine.run('Still here')).toMatchObject({ exitCode: 0 });
});

test('a login at a named server does not look at HUSTLE_SERVER', async () => {
  const ana = await world.signUpUser();
  const elsewhere = machineOf(ana, { env: { HUSTLE_SERVER: 'https://journal.example' } });
  expect(await elsewhere.run('login', world.config.publicUrl)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^Open [^]*code: \S+\n$/),
  });
});
