import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '#server/config/config.ts';
import { createLog } from '#server/log.ts';
import { createSmsSender, SmsError } from '#server/sms-sender.ts';
import { startSmsServer } from '../../simulators/sms/server.ts';
import { answer, startStubServer } from '../support/stub-server.ts';

const server = await startSmsServer();
const lines: string[] = [];
const TO = '+4915112345678';
const MESSAGE = { to: TO, text: 'Hustle Forge: 123456 is your code.' };

const senderWith = (settings: Record<string, string> = {}) => {
  const config = readConfig({ ...server.settings, ...settings });
  return createSmsSender(config.auth.sms!, createLog('debug', { write: (line) => void lines.push(line) }));
};
const failureOf = (settings: Record<string, string> = {}, message = MESSAGE): Promise<unknown> =>
  senderWith(settings)
    .send(message)
    .then(
      () => 'sent',
      (error: unknown) => (error instanceof SmsError ? error.reason : error),
    );

beforeEach(() => {
  lines.length = 0;
  server.control.clear();
});
/** Log lines contain neither numbers, texts nor credentials. */
afterEach(() => {
  const { SMS_AUTH_TOKEN, SMS_ACCOUNT_SID } = server.settings;
  const credentials = btoa(`${SMS_ACCOUNT_SID}:${SMS_AUTH_TOKEN}`);
  for (const secret of [TO, TO.slice(1), '123456', SMS_AUTH_TOKEN, credentials]) {
    expect(lines.join('')).not.toContain(secret);
  }
});
afterAll(() => server.close());

test('sends a text', async () => {
  await senderWith().send(MESSAGE);
  expect(server.control.messages(TO)).toMatchObject([{ text: MESSAGE.text, code: '123456' }]);
  expect(lines.join('')).toContain('"sms":"sent"');
});

test('sends from a messaging service', async () => {
  expect(await failureOf({ SMS_FROM: `MG${'a'.repeat(32)}` })).toBe('sent');
});

test.each([
  ['+15005550001', 'bad_number'],
  ['+15005550009', 'bad_number'],
  ['+15005550003', 'blocked_country'],
  ['+15005550004', 'opted_out'],
])('names why %s gets no text: %s', async (to, reason) => {
  expect(await failureOf({}, { ...MESSAGE, to })).toBe(reason);
});

test('reports wrong credentials and a wrong sender as misconfigured', async () => {
  expect(await failureOf({ SMS_AUTH_TOKEN: 'wrong' })).toBe('misconfigured');
  expect(await failureOf({ SMS_FROM: '+15005550001' })).toBe('misconfigured');
  expect(lines.join('')).toContain('check the SMS_* settings');
});

test('classifies faults of the provider', async () => {
  server.control.fail({ code: 20429 });
  expect(await failureOf()).toBe('overloaded');
  server.control.fail({ status: 502 });
  expect(await failureOf()).toBe('unavailable');
  server.control.fail({ status: 400 });
  expect(await failureOf()).toBe('rejected');
});

test('sends once although the answer is lost', async () => {
  server.control.fail({ drop: 'after' });
  expect(await failureOf()).toBe('unavailable');
  expect(server.control.messages(TO)).toHaveLength(1);
});

test('does not follow a redirect with its credentials', async () => {
  const elsewhere = await startStubServer((_, response) => answer(response, 201, {}));
  server.control.fail({ redirectTo: `${elsewhere.url}/messages` });
  expect(await failureOf()).toBe('unavailable');
  expect(elsewhere.requests).toEqual([]);
  await elsewhere.close();
});

test('rejects an endless answer', async () => {
  const endless = await startStubServer((_, response) => answer(response, 201, 'x'.repeat(100_000)));
  expect(await failureOf({ SMS_API_BASE: endless.url })).toBe('unavailable');
  await endless.close();
});
