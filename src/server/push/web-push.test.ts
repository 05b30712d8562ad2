import { createECDH, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encrypt } from 'http_ece';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startPushServer, type PushServer, type SimulatedSubscription } from '../../../simulators/push/server.ts';
import { createWebPush, type PushTarget, type WebPush } from './web-push.ts';

let service: PushServer;
let webPush: WebPush;
let now: Date;
const clock = { now: () => now };
const subject = 'mailto:support@example.com';
const connect = (secret = Buffer.alloc(32, 1)) => createWebPush({ secret, subject, clock });

beforeAll(async () => {
  now = new Date('2026-11-27T18:00:00Z');
  service = await startPushServer(clock);
});
afterAll(() => service.close());
beforeEach(() => {
  now = new Date('2026-11-27T18:00:00Z');
  service.control.clear();
  webPush = connect();
});

const targetOf = ({ endpoint, keys }: SimulatedSubscription): PushTarget => ({
  endpoint,
  p256dh: Buffer.from(keys.p256dh, 'base64url'),
  auth: Buffer.from(keys.auth, 'base64url'),
});
const subscribe = async () => targetOf(service.control.subscribe(await webPush.publicKey()));

test('encrypts as the example of RFC 8291 does', () => {
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  const privateKey = createECDH('prime256v1');
  privateKey.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
  const body = encrypt(Buffer.from('When I grow up, I want to be a watermelon'), {
    version: 'aes128gcm',
    privateKey,
    dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    authSecret: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  });
  expect(body.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
});

test('a browser decrypts the message, and the service sees a valid signature and how long it waits', async () => {
  const target = await subscribe();
  expect(await webPush.send(target, 'Ärger 😀')).toEqual({ kind: 'sent' });
  expect(service.control.messages(target.endpoint)).toEqual([
    {
      endpoint: target.endpoint,
      text: 'Ärger 😀',
      ttl: 7_200,
      topic: 'evening-reminder',
      urgency: 'high',
      subject,
      at: now.toISOString(),
    },
  ]);
});

test('signs anew before a signature ends', async () => {
  const target = await subscribe();
  for (let hour = 0; hour < 30; hour += 1) {
    now = new Date(now.getTime() + 3_599_000);
    expect(await webPush.send(target, 'now')).toEqual({ kind: 'sent' });
  }
});

test('has the same key after a restart, and another with another root', async () => {
  expect(await connect().publicKey()).toBe(await webPush.publicKey());
  expect(await connect(Buffer.alloc(32, 2)).publicKey()).not.toBe(await webPush.publicKey());
  expect(Buffer.from(await webPush.publicKey(), 'base64url')).toHaveLength(65);
});

test('a message with another key than that of the subscription is refused for good', async () => {
  const other = connect(randomBytes(32));
  const failed = { kind: 'failed', reason: 'status 403', mayHaveArrived: false };
  expect(await other.send(await subscribe(), 'now')).toEqual(failed);
});

test.each([404, 410])('status %d ends the subscription', async (status) => {
  service.control.fail({ status });
  expect(await webPush.send(await subscribe(), 'now')).toEqual({ kind: 'gone' });
});

test('an ended subscription is gone', async () => {
  const target = await subscribe();
  service.control.unsubscribe(target.endpoint);
  expect(await webPush.send(target, 'now')).toEqual({ kind: 'gone' });
});

test.each([
  [429, { 'Retry-After': '120' }, 120_000],
  [503, { 'Retry-After': 'Fri, 27 Nov 2026 18:10:00 GMT' }, 600_000],
  [500, {}, 60_000],
  [503, { 'Retry-After': 'soon' }, 60_000],
] as const)('status %d with %j may be sent again in %d ms', async (status, headers, retryAfterMs) => {
  service.control.fail({ status, headers });
  expect(await webPush.send(await subscribe(), 'now')).toEqual({ kind: 'busy', retryAfterMs });
});

test('a message without an answer may have arrived', async () => {
  service.control.fail({ drop: true });
  const target = await subscribe();
  expect(await webPush.send(target, 'now')).toMatchObject({ kind: 'failed', mayHaveArrived: true });
  expect(service.control.messages(target.endpoint)).toHaveLength(1);
});

test('a service that nobody answers for has certainly taken nothing', async () => {
  const gone = await startPushServer(clock);
  const target = targetOf(gone.control.subscribe(await webPush.publicKey()));
  await gone.close();
  expect(await webPush.send(target, 'now')).toEqual({ kind: 'busy', retryAfterMs: 60_000 });
});

test('a redirect is not followed', async () => {
  const visited: string[] = [];
  const server = createServer((request, response) => {
    visited.push(request.url ?? '');
    response.writeHead(307, { Location: '/internal' }).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${String(port)}/push`;
  expect(await webPush.send({ ...(await subscribe()), endpoint }, 'now')).toMatchObject({ reason: 'status 307' });
  expect(visited).toEqual(['/push']);
  server.close();
});

test('a service that fails five times in a row is left alone for the time that it names', async () => {
  const target = await subscribe();
  service.control.fail({ status: 503, headers: { 'Retry-After': '300' }, times: 5 });
  for (let count = 0; count < 5; count += 1) await webPush.send(target, 'now');
  now = new Date(now.getTime() + 200_000);
  expect(await webPush.send(target, 'now')).toEqual({ kind: 'busy', retryAfterMs: 100_000 });
  expect(service.control.answers()).toHaveLength(5);
  now = new Date(now.getTime() + 100_000);
  expect(await webPush.send(target, 'now')).toEqual({ kind: 'sent' });
});
