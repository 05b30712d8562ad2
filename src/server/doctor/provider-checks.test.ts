/** Each provider is checked with right and wrong settings. The simulators answer for the external services. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDnsServer, type DnsAnswer } from '../../../simulators/mail-client/dns-server.ts';
import { createCaptchaApp, captchaSettingsAt } from '../../../simulators/captcha/server.ts';
import { configOf, lines, run, unreachableUrl, withStub } from '../../../tests/support/commands/doctor-checks.ts';
import { startTestServer } from '../../../tests/support/start-server.ts';
import { answer } from '../../../tests/support/stub-server.ts';
import { freePort } from '../database/embedded/endpoint.ts';
import { setUpWorld } from '../../../tests/support/set-up.ts';
import {
  captchaCheck,
  coachCheck,
  inboundCheck,
  mailCheck,
  paypalCheck,
  signInCheck,
  smsCheck,
} from './provider-checks.ts';

const world = setUpWorld(() => startTestServer({ sms: 'on' }));
let unreachable: string;
beforeAll(async () => {
  unreachable = await unreachableUrl();
});

test('mailCheck logs in, sends a mail if asked, and names a server that is away or refuses the mail', async () => {
  const check = (SMTP_URL: string, address: string | null = null) => run(mailCheck(configOf({ SMTP_URL }), address));
  expect(lines(await check(''))[0]).toMatch(/^off the sandbox keeps all mail/);
  const withoutMail = mailCheck(configOf({ SANDBOX: 'off' }), null);
  expect(lines(await run(withoutMail))).toEqual(['warning SMTP_URL is not set']);
  expect(lines(await check(world.mailbox.smtpUrl))[0]).toMatch(/^ok the mail server accepts the login/);
  expect(lines(await check(unreachable.replace('http', 'smtp')))).toEqual([
    'fault the mail server: nothing listens there (connection refused)',
  ]);
  const address = `${randomBytes(4).toString('hex')}@example.com`;
  expect(lines(await check(world.mailbox.smtpUrl, address))[0]).toMatch(/^ok the mail server accepted a mail from/);
  expect(world.mailbox.messagesTo(address)).toHaveLength(1);
  world.mailbox.refuseNext(1, 550);
  expect(lines(await check(world.mailbox.smtpUrl, address))[0]).toMatch(
    /^fault the mail server refused the mail with 550/,
  );
});

test('mailCheck names a refused login, and a server without encryption', async () => {
  const refuse = Object.assign(new Error('wrong password'), { responseCode: 535 });
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(refuse),
  });
  server.on('error', () => undefined);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  const check = (host: string) => run(mailCheck(configOf({ SMTP_URL: `smtp://me:x@${host}:${port}` }), null));
  try {
    expect(lines(await check('127.0.0.1'))).toEqual(['fault the mail server refuses the login (535)']);
    // The mailer needs no encryption on this machine, and does not recognise this form of its address.
    expect(lines(await check('[::ffff:127.0.0.1]'))).toEqual(['fault the mail server offers no encryption']);
  } finally {
    await new Promise<void>((closed) => server.close(closed));
  }
});

test('mailCheck names a mail server that does not speak TLS, and how SMTP_URL must begin', async () => {
  const SMTP_URL = world.mailbox.smtpUrl.replace('smtp:', 'smtps:');
  const findings = await run(mailCheck(configOf({ SMTP_URL }), null));
  expect(lines(findings)).toEqual(['fault the mail server: it does not speak TLS']);
  expect(findings[0]!.fix).toContain('smtps:// for port 465, smtp:// for 587');
});

describe('inboundCheck', () => {
  let exchanges: DnsAnswer;
  let dns: Awaited<ReturnType<typeof startDnsServer>>;
  let folder: string;
  beforeAll(async () => {
    dns = await startDnsServer((_name, type) => (type === 'MX' ? exchanges : null));
    folder = await mkdtemp(join(tmpdir(), 'inbound-check-'));
  });
  afterAll(() => Promise.all([dns.close(), rm(folder, { recursive: true })]));
  beforeEach(() => {
    exchanges = ['mx.example.com'];
  });

  const check = (env: Record<string, string>) =>
    run(inboundCheck(configOf({ INBOUND_DOMAIN: 'reply.example.com', INBOUND_DNS: dns.address, ...env }))).then(lines);
  const postmark = { INBOUND_POSTMARK_PASSWORD: 'a-long-postmark-password', PUBLIC_URL: 'https://journal.example.com' };
  const MX = 'ok mails to reply.example.com go to mx.example.com';

  test('says that no mail is received', async () => {
    expect(await check({ INBOUND_DOMAIN: '', INBOUND_DNS: '' })).toEqual([
      'off no mail is received: INBOUND_DOMAIN is not set',
    ]);
  });

  test('finds the MX record, or says that it is missing', async () => {
    expect(await check(postmark)).toEqual([MX]);
    for (const none of [null, []]) {
      exchanges = none;
      expect(await check(postmark)).toEqual(['warning reply.example.com has no MX record']);
    }
    exchanges = 'SERVFAIL';
    expect(await check(postmark)).toEqual(['warning DNS does not say where mails to reply.example.com go (ESERVFAIL)']);
  });

  test('says that a webhook needs https', async () => {
    expect(await check({ ...postmark, PUBLIC_URL: 'http://journal.example.com' })).toEqual([
      MX,
      'warning a provider cannot reach PUBLIC_URL',
    ]);
  });

  test('finds the SMTP port, or says that nothing receives mail there', async () => {
    const server = new SMTPServer({ authOptional: true });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.server.address() as AddressInfo;
    const settings = { INBOUND_SMTP_PORT: String(port) };
    expect(await check(settings)).toEqual([MX, `ok the SMTP port ${port} greets`]);
    expect(await check({ ...settings, INBOUND_SMTP_HOST: '0.0.0.0' })).toEqual([MX, `ok the SMTP port ${port} greets`]);
    await new Promise<void>((closed) => server.close(closed));
    expect(await check(settings)).toEqual([MX, `warning nothing receives mail at port ${port}`]);
  });

  test('reads the certificate', async () => {
    const files = { INBOUND_SMTP_CERT_FILE: join(folder, 'cert.pem'), INBOUND_SMTP_KEY_FILE: join(folder, 'key.pem') };
    const [port, keys] = await Promise.all([
      freePort(),
      crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']),
    ]);
    const read = async (notAfter: Date | null): Promise<string | undefined> => {
      const certificate =
        notAfter &&
        (await x509.X509CertificateGenerator.createSelfSigned({
          name: 'CN=reply.example.com',
          keys,
          notBefore: new Date(0),
          notAfter,
        }));
      await writeFile(
        files.INBOUND_SMTP_CERT_FILE,
        certificate === null ? 'no certificate' : certificate.toString('pem'),
      );
      await writeFile(files.INBOUND_SMTP_KEY_FILE, '');
      return (await check({ ...files, INBOUND_SMTP_PORT: String(port) })).at(-1);
    };
    expect(await read(new Date('2100-01-02'))).toBe('ok the certificate for SMTP is valid until 2100-01-02');
    expect(await read(new Date('2020-01-02'))).toBe('fault the certificate for SMTP ended on 2020-01-02');
    expect(await read(null)).toBe(`fault ${files.INBOUND_SMTP_CERT_FILE} is no certificate`);
  });
});

test('paypalCheck checks the credentials, the address of the webhook and its events', async () => {
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
  expect((await check({ PUBLIC_URL: 'https://journal.example.com' }))[1]).toMatch(/^fault the webhook leads to http:/);
  expect(await check({ PAYPAL_API_BASE: unreachable })).toEqual([
    `fault PayPal at ${unreachable}: nothing listens there (connection refused)`,
  ]);
  const withoutRefunds = [{ name: 'PAYMENT.CAPTURE.COMPLETED' }];
  const url = `${world.config.publicUrl}/functions/v1/paypal-webhook`;
  await withStub(
    ({ path }, response) =>
      answer(response, 200, path.includes('oauth2') ? { access_token: 'x' } : { url, event_types: withoutRefunds }),
    async (PAYPAL_API_BASE) =>
      expect((await check({ PAYPAL_API_BASE }))[1]).toMatch(/^warning the webhook lacks .*PAYMENT\.CAPTURE\.REFUNDED/),
  );
});

test.each(['google', 'anthropic', 'openai-compatible'] as const)(
  'coachCheck checks the key and the model of %s without asking it anything',
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

test('smsCheck checks the credentials and the account without sending a text', async () => {
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

test.each(['hcaptcha', 'turnstile'] as const)('captchaCheck checks the secret of %s', async (provider) => {
  const { app } = createCaptchaApp();
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

test('signInCheck compares the issuer that an OpenID provider names with the setting', async () => {
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
      expect((await check(url))[0]).toMatch(/^ok keycloak answers; only a sign-in can check its client secret/);
      issuer = 'https://other.example.com';
      expect((await check(url))[0]).toBe(`fault keycloak names the issuer https://other.example.com instead of ${url}`);
      expect((await check(unreachable))[0]).toMatch(/^fault keycloak: .* nothing listens there/);
    },
  );
});

test('signInCheck names a provider without endpoints, and GitHub when it does not answer', async () => {
  const OIDC = { OIDC_KEYCLOAK_CLIENT_ID: 'a', OIDC_KEYCLOAK_CLIENT_SECRET: 'b', OIDC_PROVIDERS: 'keycloak' };
  let issuer = '';
  await withStub(
    (_request, response) => answer(response, 200, { issuer }),
    async (url) => {
      issuer = url;
      const [found] = lines(await run(signInCheck(configOf({ ...OIDC, OIDC_KEYCLOAK_ISSUER: url }))));
      expect(found).toMatch(/^fault keycloak names no endpoints at http/);
    },
  );
  const github = { GITHUB_CLIENT_ID: 'a', GITHUB_CLIENT_SECRET: 'b', GITHUB_API_BASE: unreachable };
  expect(lines(await run(signInCheck(configOf(github))))).toEqual([
    `fault github at ${unreachable}: nothing listens there (connection refused)`,
  ]);
});

test.each([
  ['GOOGLE', {}],
  ['OIDC_KEYCLOAK', { OIDC_PROVIDERS: 'keycloak' }],
])('the advice of signInCheck names the setting %s_ISSUER', async (prefix, settings) => {
  const client = { [`${prefix}_CLIENT_ID`]: 'a', [`${prefix}_CLIENT_SECRET`]: 'b', [`${prefix}_ISSUER`]: unreachable };
  const [found] = await run(signInCheck(configOf({ ...client, ...settings })));
  expect(found!.fix).toMatch(new RegExp(`^Check ${prefix}_ISSUER:`));
});
