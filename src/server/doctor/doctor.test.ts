/** Each check of the doctor with its faults injected. The simulators answer for the external services. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import 'reflect-metadata';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCaptchaApp, captchaSettingsAt } from '../../../simulators/captcha/app.ts';
import { withOrdinaryOwner } from '../../../tests/support/ordinary-owner.ts';
import { startTestServer } from '../../../tests/support/start-server.ts';
import type { TestServer } from '../../../tests/support/start-server.ts';
import { answer, startStubServer } from '../../../tests/support/stub-server.ts';
import type { StubHandler } from '../../../tests/support/stub-server.ts';
import { backupName, writeSummary } from '../backup/folder.ts';
import { inspectConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { createLog } from '../log.ts';
import { freePort } from '../free-port.ts';
import { fault, ok, runChecks, warning } from './check.ts';
import type { Check, Finding } from './check.ts';
import { describeOffset } from './checks/database-checks.ts';
import { backupCheck, diskCheck, keysCheck, permissionsCheck } from './checks/files-checks.ts';
import { captchaCheck, coachCheck, mailCheck, paypalCheck, signInCheck, smsCheck } from './checks/provider-checks.ts';
import { publicUrlChecks } from './checks/public-url-checks.ts';
import { runDoctor } from './doctor-command.ts';
import { createProbeAccess } from './probe-access.ts';
import { createRedactor, formatText } from './report.ts';

let world: TestServer;
let dataDir: string;
/** An address where nothing listens. */
let unreachable: string;
beforeAll(async () => {
  world = await startTestServer({ sms: 'on' });
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-doctor-'));
  await chmod(dataDir, 0o700);
  unreachable = `http://127.0.0.1:${await freePort()}`;
});
afterAll(async () => {
  await world.close();
  await rm(dataDir, { recursive: true });
});

const now = (): Date => new Date();
const configOf = (env: Record<string, string>): Config => inspectConfig({ DATA_DIR: dataDir, ...env }).config;
const run = async (check: Check): Promise<Finding[]> => (await runChecks([check]))[0]!.findings;
/** A self-signed certificate for a name, valid for a year. */
async function newCertificate(name: string): Promise<{ key: string; cert: string }> {
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
    cert: certificate.toString('pem'),
  };
}

/** One line a finding, such as `fault the disk is full`. */
const lines = (findings: readonly Finding[]): string[] => findings.map(({ status, text }) => `${status} ${text}`);
const environment = (extra: Record<string, string> = {}): Record<string, string> => ({
  DATABASE_URL: world.databaseUrl,
  DATA_DIR: dataDir,
  PUBLIC_URL: world.config.publicUrl,
  ...extra,
});

async function withStub<T>(handler: StubHandler, work: (url: string) => Promise<T>): Promise<T> {
  const stub = await startStubServer(handler);
  try {
    return await work(stub.url);
  } finally {
    await stub.close();
  }
}

describe('the whole', () => {
  test('finds no fault beside a running server, and names no secret', async () => {
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

  test('goes on without a database, with invalid settings and without a server', async () => {
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

  test('makes no database where none is', async () => {
    const { results } = await runDoctor(['--only', 'database'], { DATA_DIR: join(dataDir, 'none') });
    expect(lines(results[0]!.findings)).toEqual([
      `off there is no database in ${join(dataDir, 'none')} yet: the first start makes it`,
    ]);
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

  test('prints status, name, fact and mend, without secrets', () => {
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
});

describe('the database', () => {
  test('roles, migrations and connections: each fault is named', async () => {
    await withOrdinaryOwner({ url: world.databaseUrl, admin: world.admin }, async (url, owner) => {
      await migrate(url, createLog('silent'));
      const login = `${owner}_requests`;
      const ledger = (columns: string, values: string) =>
        `insert into migrations.applied (set, number, name, checksum${columns}) values ('app', 9999, 'later', 'x'${values})`;
      const forget = 'delete from migrations.applied where number = 9999';
      const database = new pg.Client({ connectionString: url });
      await database.connect();
      const diagnose = async (name: string, sql: string, back: string, client: Pick<pg.Client, 'query'>) => {
        await client.query(sql);
        const { results } = await runDoctor(['--only', name], environment({ DATABASE_URL: url }));
        await client.query(back);
        return lines(results[0]!.findings)[0];
      };
      const { admin } = world;
      expect(await diagnose('roles', 'select', 'select', admin)).toMatch(/^ok the login for requests has no rights/);
      expect(
        await diagnose('roles', `alter role ${login} createrole`, `alter role ${login} nocreaterole`, admin),
      ).toMatch(/^fault the role that requests log in with is too privileged/);
      expect(
        await diagnose('roles', `revoke anon from ${login} granted by ${owner}`, `grant anon to ${login}`, database),
      ).toBe('fault the login for requests may not act as anon');
      expect(await diagnose('roles', `alter role ${login} password 'x'`, 'select', admin)).toBe(
        'fault the login for requests does not work',
      );
      const limit = (count: number) => `alter role ${login} connection limit ${count}`;
      expect(await diagnose('connections', limit(3), limit(-1), admin)).toMatch(
        /^warning one process takes up to \d+ connections, but the role for requests may have 3 connections$/,
      );
      expect(await diagnose('migrations', ledger(', phase', ", 'contract'"), forget, database)).toMatch(
        /^fault the database is newer than this program: it has app\/9999_later/,
      );
      expect(await diagnose('migrations', ledger('', ''), forget, database)).toBe(
        'warning a newer program has been here: app/9999_later',
      );
      expect(
        await diagnose('migrations', 'delete from migrations.applied where number = 3', 'select', database),
      ).toMatch(/^warning pending migrations: auth\/0003_sign_in_methods, app\/0003_plan_changes$/);
      expect(await diagnose('migrations', 'drop table migrations.applied', 'select', database)).toBe(
        'warning the database is empty',
      );
      await database.end();
    });
  });

  test('durability: settings that lose acknowledged saves are named', async () => {
    // The server of the tests runs without fsync.
    const { results } = await runDoctor(['--only', 'durability'], environment());
    expect(lines(results[0]!.findings)).toEqual([
      'warning fsync, full_page_writes, synchronous_commit: off, so a crash can lose acknowledged saves',
    ]);
  });

  test.each([
    ['password', 'fault the database refuses the login'],
    ['database', 'fault database "nowhere" does not exist'],
  ])('a wrong %s is named', async (what, expected) => {
    const url =
      what === 'password'
        ? world.databaseUrl.replace(/\/\/(\w+):[^@]*@/, '//$1:wrong@')
        : world.databaseUrl.replace(/\/\w+\?/, '/nowhere?');
    const { results } = await runDoctor(['--only', 'database', '--only', 'roles'], environment({ DATABASE_URL: url }));
    expect(lines(results[0]!.findings)[0]).toContain(expected);
    expect(results[1]!.findings).toEqual([]);
  });

  test.each([
    [0, 10, 'ok'],
    [3_000, 10, 'warning'],
    [-3_000, 10, 'warning'],
    [3_000, 1_500, 'ok'],
    [40_000, 500, 'fault'],
  ])('a clock that is %i ms ahead, measured with an error of %i ms: %s', (offsetMs, errorMs, status) => {
    expect(describeOffset('the database', offsetMs, errorMs).status).toBe(status);
  });
});

describe('files', () => {
  test('the free space of the disk', async () => {
    const check = (freeBytes: number) =>
      run(diskCheck(configOf({}), (() => Promise.resolve({ bsize: 1, bavail: freeBytes, blocks: 100e9 })) as never));
    expect(lines(await check(50e9))).toEqual([`ok 50.0 GB of 100.0 GB are free for the database (${dataDir})`]);
    expect(lines(await check(1.9e9))[0]).toMatch(/^warning 1\.9 GB of/);
    expect(lines(await check(0.1e9))[0]).toMatch(/^fault 100\.0 MB of/);
  });

  test('permissions of keys and folders', async () => {
    const key = join(dataDir, 'key.json');
    await writeFile(key, '{}');
    await chmod(key, 0o644);
    const config = configOf({ AUTH_SIGNING_KEY_FILE: key });
    expect(await run(permissionsCheck(config))).toEqual([
      fault(`other users can read ${key} (644)`, `chmod 600 ${key}`),
    ]);
    await chmod(key, 0o600);
    expect((await run(permissionsCheck(config)))[0]!.status).toBe('ok');
    await chmod(dataDir, 0o755);
    expect(await run(permissionsCheck(config))).toEqual([
      warning(`${dataDir} is open to other users (755)`, `chmod 700 ${dataDir}`),
    ]);
    await chmod(dataDir, 0o700);
    await rm(key);
    expect(lines(await run(keysCheck(config)))[0]).toMatch(/^fault AUTH_SIGNING_KEY_FILE cannot be read: ENOENT/);
  });

  test('the age of the newest backup, and its size', async () => {
    const dir = join(dataDir, 'backups');
    const config = configOf({ BACKUP_DIR: dir });
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
  });
});

describe('providers', () => {
  test('mail: login, wrong login, no server, a real mail and its refusal', async () => {
    const check = (SMTP_URL: string, address: string | null = null) => run(mailCheck(configOf({ SMTP_URL }), address));
    expect(lines(await check(''))[0]).toMatch(/^off the sandbox keeps all mail/);
    const withoutMail = mailCheck(configOf({ SANDBOX: 'off' }), null);
    expect(lines(await run(withoutMail))).toEqual(['warning SMTP_URL is not set']);
    expect(lines(await check(world.mailbox.smtpUrl))[0]).toMatch(/^ok the mail server takes our login/);
    expect(lines(await check(unreachable.replace('http', 'smtp')))).toEqual([
      'fault the mail server: nothing listens there (connection refused)',
    ]);
    const address = `${randomBytes(4).toString('hex')}@example.com`;
    expect(lines(await check(world.mailbox.smtpUrl, address))[0]).toMatch(/^ok the mail server took a mail from/);
    expect(world.mailbox.messagesTo(address)).toHaveLength(1);
    world.mailbox.refuseNext(1, 550);
    expect(lines(await check(world.mailbox.smtpUrl, address))[0]).toMatch(
      /^fault the mail server refused the mail with 550/,
    );
  });

  test('PayPal: credentials, the webhook and its address', async () => {
    const { settings } = world.paypal;
    const check = (env: Record<string, string>) =>
      run(paypalCheck(configOf({ PUBLIC_URL: world.config.publicUrl, ...settings, ...env }))).then(lines);
    const accepted = `ok PayPal accepts the credentials at ${settings.PAYPAL_API_BASE}`;
    expect(await check({})).toEqual([accepted, 'ok the webhook leads here and has all events']);
    expect(await check({ PAYPAL_CLIENT_SECRET: 'wrong' })).toEqual([
      `fault PayPal refuses the credentials (401) at ${settings.PAYPAL_API_BASE}`,
    ]);
    expect(await check({ PAYPAL_WEBHOOK_ID: '' })).toEqual([accepted, 'warning PAYPAL_WEBHOOK_ID is not set']);
    expect(await check({ PAYPAL_WEBHOOK_ID: 'OTHER' })).toEqual([accepted, 'fault PayPal has no webhook OTHER']);
    expect((await check({ PUBLIC_URL: 'https://journal.example.com' }))[1]).toMatch(
      /^fault the webhook leads to http:/,
    );
    expect(await check({ PAYPAL_API_BASE: unreachable })).toEqual([
      `fault PayPal at ${unreachable}: nothing listens there (connection refused)`,
    ]);
    const withoutRefunds = [{ name: 'PAYMENT.CAPTURE.COMPLETED' }];
    const url = `${world.config.publicUrl}/functions/v1/paypal-webhook`;
    await withStub(
      ({ path }, response) =>
        answer(response, 200, path.includes('oauth2') ? { access_token: 'x' } : { url, event_types: withoutRefunds }),
      async (PAYPAL_API_BASE) =>
        expect((await check({ PAYPAL_API_BASE }))[1]).toMatch(
          /^warning the webhook lacks .*PAYMENT\.CAPTURE\.REFUNDED/,
        ),
    );
  });

  test.each(['google', 'anthropic', 'openai-compatible'] as const)(
    'the coach of %s: key and model',
    async (provider) => {
      const settings = world.model.settingsFor(provider);
      const check = (env: Record<string, string>) => run(coachCheck(configOf({ ...settings, ...env }))).then(lines);
      expect((await check({}))[0]).toMatch(/^ok .* accepts the key and has .* \(asked without cost/);
      expect((await check({ AI_API_KEY: 'wrong' }))[0]).toMatch(/^fault .* refuses the key \(40[01]\)$/);
      expect((await check({ AI_MODEL: 'llama3' }))[0]).toMatch(
        /^(fault .* has no model|warning .* does not list the model) llama3$/,
      );
      expect((await check({ AI_BASE_URL: `${unreachable}/v1` }))[0]).toMatch(/^fault .*: nothing listens there/);
      expect(world.model.control.requests()).toEqual([]);
    },
  );

  test('text messages: credentials, without a text', async () => {
    const check = (env: Record<string, string>) =>
      run(smsCheck(configOf({ ...world.sms!.settings, ...env }))).then(lines);
    expect(await check({})).toEqual(['ok the SMS provider accepts the credentials; no text was sent']);
    expect(await check({ SMS_AUTH_TOKEN: 'wrong' })).toEqual(['fault the SMS provider refuses the credentials (401)']);
    expect(await check({ SMS_API_BASE: unreachable })).toEqual([
      `fault the SMS provider at ${unreachable}: nothing listens there (connection refused)`,
    ]);
    await withStub(
      (_request, response) => answer(response, 200, { status: 'suspended' }),
      async (SMS_API_BASE) =>
        expect(await check({ SMS_API_BASE })).toEqual(['fault the account at the SMS provider is suspended']),
    );
    expect(world.sms!.control.messages()).toEqual([]);
  });

  test.each(['hcaptcha', 'turnstile'] as const)('the keys of %s', async (provider) => {
    const app = createCaptchaApp();
    await withStub(
      (request, response) => {
        const init = { method: request.method, headers: request.headers as Record<string, string>, body: request.body };
        void Promise.resolve(app.request(request.path, init)).then(async (reply) =>
          answer(response, reply.status, await reply.json()),
        );
      },
      async (url) => {
        const settings = captchaSettingsAt(url, provider);
        const check = (env: Record<string, string>) => run(captchaCheck(configOf({ ...settings, ...env }))).then(lines);
        expect(await check({})).toEqual(['ok the captcha service accepts the secret']);
        expect(await check({ CAPTCHA_SECRET: 'wrong' })).toEqual([
          'fault the captcha service rejects our keys (invalid-input-secret)',
        ]);
        expect(await check({ CAPTCHA_VERIFY_URL: unreachable })).toEqual([
          'fault the captcha service does not answer: ECONNREFUSED',
        ]);
      },
    );
  });

  test('a provider for sign-in: its description and its issuer', async () => {
    let issuer = '';
    await withStub(
      ({ path }, response) =>
        path.endsWith('/openid-configuration')
          ? answer(response, 200, { issuer, authorization_endpoint: 'a', token_endpoint: 'b', jwks_uri: 'c' })
          : answer(response, 404),
      async (url) => {
        const client = { OIDC_KEYCLOAK_CLIENT_ID: 'a', OIDC_KEYCLOAK_CLIENT_SECRET: 'b', OIDC_PROVIDERS: 'keycloak' };
        const check = (OIDC_KEYCLOAK_ISSUER: string) =>
          run(signInCheck(configOf({ ...client, OIDC_KEYCLOAK_ISSUER }))).then(lines);
        issuer = url;
        expect((await check(url))[0]).toMatch(/^ok keycloak describes itself/);
        issuer = 'https://other.example.com';
        expect((await check(url))[0]).toBe(`fault keycloak calls itself https://other.example.com instead of ${url}`);
        expect((await check(unreachable))[0]).toMatch(/^fault keycloak: .* nothing listens there/);
      },
    );
  });
});

describe('the public address', () => {
  type Names = 'url' | 'certificate' | 'redirect' | 'headers' | 'proxy';
  async function checkUrl(name: Names, PUBLIC_URL: string, env: Record<string, string> = {}): Promise<string[]> {
    const config = configOf(environment({ PUBLIC_URL, ...env }));
    const access = createProbeAccess(
      { ...config, publicUrl: world.config.publicUrl },
      { url: world.databaseUrl, problem: null },
    );
    return lines(await run(publicUrlChecks(config, access, now).find((check) => check.name === name)!));
  }

  /** A proxy in front of the server that changes requests and answers. */
  const proxy =
    (change: {
      buffer?: boolean;
      headers?: Record<string, string>;
      drop?: string;
      forward?: Record<string, string>;
    }): StubHandler =>
    ({ method, path, headers, body }, response) => {
      const { host: _host, connection: _connection, ...rest } = headers as Record<string, string>;
      const init = { method, headers: { ...rest, ...change.forward }, redirect: 'manual' as const };
      void fetch(world.url + path, method === 'GET' ? init : { ...init, body }).then(async (reply) => {
        const kept = [...reply.headers].filter(
          ([name]) => name !== change.drop && name !== 'content-encoding' && name !== 'content-length',
        );
        response.writeHead(reply.status, { ...Object.fromEntries(kept), ...change.headers });
        if (change.buffer) response.end(Buffer.from(await reply.arrayBuffer()));
        else {
          for await (const chunk of reply.body ?? []) response.write(chunk);
          response.end();
        }
      });
    };

  test('url: an answer of another program, of a broken proxy, a redirect and a clock', async () => {
    expect((await checkUrl('url', world.config.publicUrl))[0]).toMatch(/^ok .* and is ready$/);
    const answers: [StubHandler, RegExp][] = [
      [(_request, response) => answer(response, 200, 'hello'), /^fault .* answers 200$/],
      [(_request, response) => answer(response, 502), /^fault .* answers 502: the proxy does not reach the server$/],
      [
        (_request, response) => answer(response, 301, '', { Location: 'https://a.example' }),
        /^fault .* redirects to https:\/\/a\.example$/,
      ],
      [
        ({ path }, response) => answer(response, path === '/readyz' ? 503 : 200, { status: 'up' }),
        /^fault .* is up but not ready \(503\)$/,
      ],
      [(_request, response) => response.destroy(), /^fault .*: it closed the connection$/],
    ];
    for (const [handler, expected] of answers) {
      await withStub(handler, async (url) => expect((await checkUrl('url', url))[0]).toMatch(expected));
    }
    await withStub(
      (_request, response) =>
        answer(response, 200, { status: 'up' }, { Date: new Date(Date.now() - 60_000).toUTCString() }),
      async (url) =>
        expect((await checkUrl('url', url))[1]).toMatch(/^fault the clock of .* is (59|60)\.\d s behind this machine/),
    );
  });

  test('headers: those that a proxy removes or sets again', async () => {
    expect(await checkUrl('headers', world.config.publicUrl)).toEqual([
      'ok the security headers arrive as they were sent',
    ]);
    const change = { drop: 'referrer-policy', headers: { 'X-Frame-Options': 'SAMEORIGIN' } };
    await withStub(proxy(change), async (url) =>
      expect(await checkUrl('headers', url)).toEqual([
        'warning the proxy changes the security headers: Referrer-Policy is missing, X-Frame-Options is sent twice',
      ]),
    );
  });

  test('proxy: buffering, a host that is not forwarded, another key and another database', async () => {
    await withStub(proxy({ buffer: true }), async (url) => {
      const found = await checkUrl('proxy', url);
      expect(found[0]).toBe(`ok ${url} is this installation`);
      expect(found[1]).toMatch(/^warning the proxy sends the host/);
      expect(found[2]).toMatch(/^warning the proxy holds events back/);
    });
    await withStub(proxy({ forward: { authorization: 'Bearer nonsense' } }), async (url) =>
      expect((await checkUrl('proxy', url))[0]).toBe(`fault ${url} does not accept our signing key`),
    );
    const other = JSON.stringify({ address: '1.2.3.4', host: 'h', database: 'another' });
    await withStub(
      (_request, response) =>
        answer(response, 200, `event: connection\ndata: ${other}\n\n`, { 'Content-Type': 'text/event-stream' }),
      async (url) =>
        expect((await checkUrl('proxy', url))[0]).toBe(`fault ${url} serves another database than this one`),
    );
  });

  test('proxy: a stranger who answers at the address gets no rights', async () => {
    const received: string[] = [];
    await withStub(
      ({ headers }, response) => {
        received.push(headers.authorization!);
        answer(response, 404);
      },
      (url) => checkUrl('proxy', url),
    );
    const use = async (path: string) =>
      (await fetch(world.url + path, { headers: { Authorization: received[0]! } })).status;
    expect(await use('/auth/v1/admin/users')).toBe(403);
    expect(await use('/auth/v1/admin/audit')).toBe(403);
    expect(await use('/auth/v1/user')).toBe(403);
    expect(await use('/auth/v1/admin/connection')).toBe(200);
  });

  test('proxy: an address header that anybody can forge', async () => {
    const [asSent, replaced] = await Promise.all(
      [(sent: string) => sent, () => '198.51.100.7'].map((addressOf) =>
        withStub(
          ({ headers }, response) => {
            const { authorization, 'x-forwarded-for': sent } = headers;
            const init = { headers: { Authorization: authorization! } };
            void fetch(`${world.url}/auth/v1/admin/connection`, init).then(async (reply) => {
              const text = await reply.text();
              const address = addressOf(String(sent));
              answer(response, 200, text.replace(/"address":"[^"]*"/, `"address":"${address}"`));
            });
          },
          (url) => checkUrl('proxy', url, { CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' }),
        ),
      ),
    );
    expect(asSent).toContainEqual(
      expect.stringMatching(/^fault anybody can forge an address: the proxy passes x-forwarded-for on/),
    );
    expect(replaced).toContain('ok the proxy sends the address of the client in x-forwarded-for');
  });

  test('certificate and redirect: expired, for another name, soon to end', async () => {
    expect(await checkUrl('certificate', 'http://journal.example.com')).toEqual([
      'fault http://journal.example.com is not encrypted',
    ]);
    expect((await checkUrl('certificate', world.config.publicUrl))[0]).toMatch(/^off /);
    const server = createServer(await newCertificate('localhost'), (_request, response) => response.end());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const url = `https://localhost:${(server.address() as AddressInfo).port}`;
      expect(await checkUrl('certificate', url)).toEqual([
        'fault browsers refuse the certificate: its certificate is self-signed',
      ]);
      const config = configOf({ PUBLIC_URL: url });
      const late = () => new Date('2150-01-01');
      const [finding] = await run(
        publicUrlChecks(config, () => Promise.reject(new Error()), late).find(({ name }) => name === 'certificate')!,
      );
      expect(finding!.text).toMatch(/^the certificate expired on /);
    } finally {
      server.close();
    }
    expect((await checkUrl('certificate', unreachable.replace('http', 'https')))[0]).toMatch(
      /^fault no TLS at .*nothing listens there/,
    );
    expect((await checkUrl('redirect', unreachable.replace('http', 'https')))[0]).toMatch(/^off /);
  });
});
