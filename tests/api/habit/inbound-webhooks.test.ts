/** The webhooks of Mailgun and Amazon SES (docs/operations.md, "Inbound mail") on a pipeline that notes what it gets. */
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { Hono } from 'hono';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '#server/config/config.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { InboundMail, Outcome } from '#server/inbound/inbound.ts';
import { inboundRoutes } from '#server/inbound/webhooks.ts';
import { setUpTestDatabase } from '../../support/set-up.ts';

const KEY = 'mailgun-webhook-signing-key';
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:inbound';
const CERTIFICATE = `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${'0'.repeat(32)}.pem`;
const RAW = 'From: ana@example.com\r\n\r\nOne';

const database = setUpTestDatabase();
let amazon: { key: KeyObject; pem: string };
let received: InboundMail[];
let fetched: string[];
let warnings: string[];
let whileReceiving: Promise<void>;
let outcome: Outcome;
let app: Hono<AppEnv>;

beforeAll(async () => {
  const keys = await crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 },
    true,
    ['sign', 'verify'],
  );
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=sns.amazonaws.com', keys });
  const { KeyObject: Keys } = await import('node:crypto');
  amazon = { key: Keys.from(keys.privateKey), pem: certificate.toString('pem') };
});
beforeEach(() => {
  received = [];
  fetched = [];
  warnings = [];
  whileReceiving = Promise.resolve();
  outcome = 'stored';
  const config = readConfig({
    INBOUND_DOMAIN: 'reply.example.org',
    INBOUND_MAILGUN_KEY: KEY,
    INBOUND_SES_TOPIC: TOPIC,
  });
  app = inboundRoutes({
    config,
    database: database.database,
    clock: { now: () => new Date() },
    log: { info: () => undefined, warn: (_fields: object, text: string) => warnings.push(text) } as never,
    inbound: {
      isKnownAddress: async () => true,
      receive: async (mail) => {
        received.push(mail);
        await whileReceiving;
        return outcome;
      },
    },
    fetchText: async (url) => {
      fetched.push(url);
      if (amazon.pem === '') throw new Error('the address answered 503');
      return amazon.pem;
    },
  });
});

const post = async (path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<number> =>
  (await app.request(path, { method: 'POST', body, headers })).status;

describe('Mailgun', () => {
  let count = 0;
  const form = (change: Record<string, string> = {}, at = Date.now()): URLSearchParams => {
    const [timestamp, token] = [String(Math.floor(at / 1_000)), `token-${Date.now()}-${(count += 1)}`];
    const signature = createHmac('sha256', KEY)
      .update(timestamp + token)
      .digest('hex');
    return new URLSearchParams({
      timestamp,
      token,
      signature,
      recipient: 'log+x@reply.example.org',
      'body-mime': RAW,
      ...change,
    });
  };

  test('hands on the raw mail, as a form of either kind', async () => {
    expect(await post('/mailgun/mime', form())).toBe(200);
    const parts = new FormData();
    for (const [name, value] of form()) parts.set(name, value);
    expect(await post('/mailgun/mime', parts)).toBe(200);
    expect(received.map(({ raw, recipients }) => [raw.toString(), recipients])).toEqual(
      Array.from({ length: 2 }, () => [RAW, ['log+x@reply.example.org']]),
    );
  });

  test('is refused with a wrong, old or used signature', async () => {
    expect(await post('/mailgun/mime', form({ signature: '0'.repeat(64) }))).toBe(401);
    expect(await post('/mailgun/mime', form({ token: 'another' }))).toBe(401);
    expect(await post('/mailgun/mime', form({}, Date.now() - 16 * 60_000))).toBe(401);
    expect(await post('/mailgun/mime', '{}', { 'content-type': 'application/json' })).toBe(401);
    expect(received).toEqual([]);
    const used = form();
    expect(await post('/mailgun/mime', used)).toBe(200);
    used.set('body-mime', 'From: eve@example.com\r\n\r\nForged');
    expect(await post('/mailgun/mime', used)).toBe(401);
    expect(received).toHaveLength(1);
  });

  test('hands on one of the mails that come with one signature at once', async () => {
    const forms = [form(), form(), form()].map((other, _index, [first]) => {
      for (const name of ['timestamp', 'token', 'signature']) other.set(name, first!.get(name)!);
      return other;
    });
    const gate = Promise.withResolvers<void>();
    whileReceiving = gate.promise;
    const answers: number[] = [];
    const posts = forms.map(async (body) => answers.push(await post('/mailgun/mime', body)));
    await expect.poll(() => received.length + answers.length).toBe(3);
    expect([received.length, answers]).toEqual([1, [401, 401]]);
    gate.resolve();
    await Promise.all(posts);
    expect(answers).toEqual([401, 401, 200]);
  });

  test.each([
    ['fields', () => Array.from({ length: 2_000 }, (_, index) => [`field${index}`, ''])],
    ['short fields in four megabytes', () => Array.from({ length: 600_000 }, (_, index) => [index.toString(36), ''])],
  ])('is refused with too many %s, without reading them', async (_name, fields) => {
    const body = form();
    for (const [name, value] of fields()) body.append(name!, value!);
    expect(await post('/mailgun/mime', body)).toBe(401);
    const parts = new FormData();
    for (const [name, value] of [...body].slice(0, 4_000)) parts.append(name, value);
    expect(await post('/mailgun/mime', parts)).toBe(401);
    expect(received).toEqual([]);
  });

  test('may send a mail again that could not be taken', async () => {
    const again = form();
    outcome = 'later';
    expect(await post('/mailgun/mime', again)).toBe(503);
    outcome = 'stored';
    expect(await post('/mailgun/mime', again)).toBe(200);
  });

  test.each(['/mailgun/mime', '/mailgun'])('is told at %s how to send the raw form of a parsed mail', async (path) => {
    const parsed = form({ 'body-plain': 'One', 'stripped-text': 'One' });
    parsed.delete('body-mime');
    const response = await app.request(path, { method: 'POST', body: parsed });
    expect([response.status, await response.json()]).toEqual([
      406,
      {
        code: 'not_accepted',
        message: 'This is no raw mail. Let the route forward to the address that ends with /inbound-mail/mailgun/mime.',
      },
    ]);
    expect(warnings).toEqual([expect.stringContaining('/inbound-mail/mailgun/mime')]);
  });
});

describe('Amazon SES', () => {
  const mail = {
    notificationType: 'Received',
    mail: { source: 'ana@Example.com' },
    receipt: {
      recipients: ['log+x@reply.example.org'],
      spfVerdict: { status: 'PASS' },
      dmarcVerdict: { status: 'PASS' },
      action: { encoding: 'BASE64' },
    },
    content: Buffer.from(RAW).toString('base64'),
  };
  const ORDER = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];

  function message(change: Record<string, string> = {}, key = amazon.key): string {
    const fields: Record<string, string> = {
      Type: 'Notification',
      MessageId: '1',
      TopicArn: TOPIC,
      Message: JSON.stringify(mail),
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: CERTIFICATE,
      ...change,
    };
    const signed = ORDER.filter((name) => name in fields).map((name) => `${name}\n${fields[name]}\n`);
    const signature = createSign('RSA-SHA256').update(signed.join('')).sign(key, 'base64');
    return JSON.stringify({ Signature: signature, ...fields });
  }

  test('hands on the raw mail, and the domain for which SPF has passed', async () => {
    expect(await post('/ses', message())).toBe(200);
    expect(received).toMatchObject([
      { recipients: ['log+x@reply.example.org'], arrival: { spfDomain: 'example.com' } },
    ]);
    expect(received[0]!.raw.toString()).toBe(RAW);
    const failed = { ...mail, receipt: { ...mail.receipt, spfVerdict: { status: 'GRAY' } } };
    const bounce = { ...mail, mail: { source: '' } };
    for (const unproven of [failed, bounce])
      expect(await post('/ses', message({ Message: JSON.stringify(unproven) }))).toBe(200);
    expect(received.slice(1).map(({ arrival }) => arrival)).toEqual([null, null]);
    // The certificate is kept.
    expect(fetched).toEqual([CERTIFICATE]);
  });

  test.each<[string, Record<string, string>]>([
    ['another topic', { TopicArn: 'arn:aws:sns:eu-west-1:123456789012:other' }],
    ['a signature of version 1', { SignatureVersion: '1' }],
    [
      'a certificate of another host',
      { SigningCertURL: CERTIFICATE.replace('amazonaws.com', 'amazonaws.com.evil.example') },
    ],
    ['a certificate of another region', { SigningCertURL: CERTIFICATE.replace('eu-west-1', 'us-east-1') }],
    ['a certificate within our network', { SigningCertURL: 'http://127.0.0.1/SimpleNotificationService-1.pem' }],
    [
      'a certificate with a user',
      { SigningCertURL: CERTIFICATE.replace('https://', 'https://sns.eu-west-1.amazonaws.com@') },
    ],
    ['another file of that host', { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/?Action=x' }],
    ['another address of the certificate', { SigningCertURL: `${CERTIFICATE}?n=1` }],
    ['a fragment behind the certificate', { SigningCertURL: `${CERTIFICATE}#1` }],
    ['a folder before the certificate', { SigningCertURL: CERTIFICATE.replace('.com/', '.com/x/../') }],
    ['a message of three hours ago', { Timestamp: new Date(Date.now() - 3 * 3_600_000).toISOString() }],
    ['a message of tomorrow', { Timestamp: new Date(Date.now() + 24 * 3_600_000).toISOString() }],
    ['no time', { Timestamp: 'now' }],
    ['another type', { Type: 'constructor' }],
  ])('is refused with %s, without a request', async (_name, change) => {
    expect(await post('/ses', message(change))).toBe(401);
    expect([received, fetched]).toEqual([[], []]);
  });

  test('is refused with the signature of another key, or a changed message', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    expect(await post('/ses', message({}, other))).toBe(401);
    expect(await post('/ses', message().replace('log+x', 'log+y'))).toBe(401);
    expect(await post('/ses', 'no JSON')).toBe(401);
    expect(received).toEqual([]);
  });

  test('is refused with very many values, before its signature is checked', async () => {
    const long = { ...(JSON.parse(message()) as object), more: Array(100).fill(0) };
    expect(await post('/ses', JSON.stringify(long))).toBe(401);
    expect([received, fetched]).toEqual([[], []]);
  });

  test('makes the server fetch no more than ten certificates in a minute', async () => {
    const file = (count: number) => CERTIFICATE.replace('0'.repeat(32), String(count).padStart(32, '0'));
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const answers: number[] = [];
    for (let count = 1; count <= 12; count += 1)
      answers.push(await post('/ses', message({ SigningCertURL: file(count) }, other)));
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), 503, 503]);
    expect(fetched).toHaveLength(10);
    expect(await post('/ses', message())).toBe(503);
  });

  test('may send a message again whose certificate could not be fetched', async () => {
    const { pem } = amazon;
    amazon.pem = '';
    expect(await post('/ses', message())).toBe(503);
    amazon.pem = pem;
    expect(await post('/ses', message())).toBe(200);
  });

  test('is subscribed by the address that Amazon names, at Amazon alone', async () => {
    const confirm = (SubscribeURL: string): string =>
      message({ Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL });
    const url = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t';
    expect(await post('/ses', confirm(url))).toBe(200);
    expect(await post('/ses', confirm('https://evil.example/'))).toBe(200);
    expect(fetched).toEqual([CERTIFICATE, url]);
    expect(received).toEqual([]);
  });
});

test('a provider that is not set up has no address', async () => {
  expect(await post('/postmark', '{}')).toBe(404);
});
