/** The command: which checks run, and what it prints. The tests of the checks stand beside them. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, lines, unreachableUrl } from '../../../tests/support/commands/doctor-checks.ts';
import { startTestServer, type TestServer } from '../../../tests/support/start-server.ts';
import { fault, ok, runChecks, warning } from './check.ts';
import { runDoctor, createRedactor, formatText } from './doctor-command.ts';

let world: TestServer;
let dataDir: string;
beforeAll(async () => {
  world = await startTestServer({ sms: 'on' });
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-doctor-'));
});
afterAll(async () => {
  await world.close();
  await rm(dataDir, { recursive: true });
});

const environment = (extra: Record<string, string> = {}): Record<string, string> => ({
  DATABASE_URL: world.databaseUrl,
  DATA_DIR: dataDir,
  PUBLIC_URL: world.config.publicUrl,
  ...extra,
});

test('finds no fault beside a running server', async () => {
  const { text, exitCode, results } = await runDoctor(
    ['--json'],
    environment({ SMTP_URL: world.mailbox.smtpUrl, ...world.paypal.settings, ...world.model.settingsFor('google') }),
  );
  const faults = results.flatMap(({ findings }) => findings).filter(({ status }) => status === 'fault');
  expect(faults).toEqual([]);
  expect(exitCode).toBe(1);
  expect(JSON.parse(text)).toEqual({ status: 'warning', checks: results });
  const found = results.find(({ name }) => name === 'proxy')!.findings;
  expect(lines(found)).toEqual([
    `ok ${world.config.publicUrl} is this installation`,
    'ok events pass the proxy at once',
  ]);
});

test('runs all checks without a database, with invalid settings and without a server', async () => {
  const unreachable = await unreachableUrl();
  const { text, exitCode } = await runDoctor([], {
    DATA_DIR: dataDir,
    DATABASE_URL: `postgres://forge:geheim-wort@${new URL(unreachable).host}/forge`,
    PUBLIC_URL: unreachable,
    PORT: 'many',
  });
  expect(exitCode).toBe(2);
  expect(text).toContain('PORT must be a whole number from 1 to 65535, not "many"');
  expect(text).toContain('the database cannot be reached: nothing listens there (connection refused)');
  expect(text).toContain(`${unreachable}: nothing listens there (connection refused)`);
  expect(text).not.toContain('geheim-wort');
});

test('runs as `npm run doctor`', async () => {
  const program = join(import.meta.dirname, 'doctor-command.ts');
  const env = { PATH: process.env['PATH'], DATA_DIR: join(dataDir, 'none') };
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--only', 'database'], {
    env,
    cwd: dataDir,
  });
  expect(stdout).toContain(`off      database     there is no database in ${join(dataDir, 'none')} yet`);
});

test('creates no database', async () => {
  const { results } = await runDoctor(['--only', 'database'], { DATA_DIR: join(dataDir, 'none') });
  expect(lines(results[0]!.findings)).toEqual([
    `off there is no database in ${join(dataDir, 'none')} yet: the first start makes it`,
  ]);
});

test('names an embedded database that does not start', async () => {
  const broken = join(dataDir, 'broken');
  // A cluster that has lost all files but the one that `hasCluster` checks.
  await mkdir(join(broken, 'postgres', 'cluster'), { recursive: true });
  await writeFile(join(broken, 'postgres', 'cluster', 'PG_VERSION'), '18\n');
  const { results } = await runDoctor(['--only', 'database'], { DATA_DIR: broken });
  expect(lines(results[0]!.findings)).toEqual([expect.stringMatching(/^fault the embedded database does not start: /)]);
});

test('warns of settings for development without the sandbox', async () => {
  const { results } = await runDoctor(['--only', 'settings'], environment({ SANDBOX: 'off' }));
  expect(lines(results[0]!.findings)).toEqual(['warning NODE_ENV is not production']);
});

test('rejects unknown options and checks', async () => {
  await expect(runDoctor(['--fix'])).rejects.toThrow('Usage: npm run doctor');
  await expect(runDoctor(['--only', 'weather'], environment())).rejects.toThrow('There is no check "weather"');
});

test('a check that throws or hangs is a fault and stops no other', async () => {
  const results = await runChecks([
    { name: 'throws', run: () => Promise.reject(new Error('out of paper')) },
    { name: 'hangs', timeoutMs: 20, run: () => new Promise(() => undefined) },
    { name: 'works', run: () => Promise.resolve([ok('fine')]) },
  ]);
  expect(results.map(({ findings }) => lines(findings)[0])).toEqual([
    'fault out of paper',
    'fault no answer within 0.02 s',
    'ok fine',
  ]);
});

test('prints status, name, fact and fix, without secrets', () => {
  const config = configOf({ SMTP_URL: 'smtp://me:p%40ss-word@mail.example.com' });
  const text = formatText([
    {
      name: 'mail',
      findings: [fault('login p@ss-word or p%40ss-word refused', 'Check it.'), warning('slow', 'Wait.')],
    },
  ]);
  expect(createRedactor(config)(text)).toBe(
    [
      'fault    mail         login [secret] or [secret] refused',
      '                      -> Check it.',
      'warning  mail         slow',
      '                      -> Wait.',
      '',
      '1 fault, 1 warning',
    ].join('\n'),
  );
});
