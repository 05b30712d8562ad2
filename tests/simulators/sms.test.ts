import { afterAll, beforeEach, expect, test } from 'vitest';
import { startSmsServer } from '../../simulators/sms/server.ts';
import { SANDBOX_ACCOUNT } from '../../simulators/sms/simulator.ts';

const server = await startSmsServer();
afterAll(() => server.close());
beforeEach(() => server.control.clear());

const { sid, from } = SANDBOX_ACCOUNT;
const sandboxToken: string = SANDBOX_ACCOUNT.authToken;
const PATH = `/2010-04-01/Accounts/${sid}/Messages.json`;
const FIELDS = { To: '+4915112345678', From: from, Body: '123456 is your code.' };

async function post(fields: Record<string, string>, { path = PATH, password = sandboxToken } = {}) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${sid}:${password}`)}` },
    body: new URLSearchParams(fields),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('answers a message as the API documents it', async () => {
  const { status, body } = await post(FIELDS);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    sid: expect.stringMatching(/^SM[0-9a-f]{32}$/),
    status: 'queued',
    direction: 'outbound-api',
    to: FIELDS.To,
    from,
    body: FIELDS.Body,
    num_segments: '1',
    error_code: null,
    price: null,
    uri: expect.stringMatching(/\/Messages\/SM[0-9a-f]{32}\.json$/),
    date_created: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
  });
});

test('counts the segments of a text', async () => {
  expect((await post({ ...FIELDS, Body: 'a'.repeat(161) })).body['num_segments']).toBe('2');
  expect((await post({ ...FIELDS, Body: 'ä'.repeat(71) })).body['num_segments']).toBe('2');
});

test('accepts a messaging service as the sender', async () => {
  const { From: _, ...withoutFrom } = FIELDS;
  expect((await post({ ...withoutFrom, MessagingServiceSid: `MG${'0'.repeat(32)}` })).status).toBe(201);
});

test.each<[string, Record<string, string>, number, number]>([
  ['no recipient', { To: '' }, 400, 21604],
  ['no sender', { From: '' }, 400, 21603],
  ['no text', { Body: '' }, 400, 21602],
  ['too long a text', { Body: 'a'.repeat(1601) }, 400, 21617],
  ['a recipient without a plus sign', { To: '4915112345678' }, 400, 21211],
  ['a foreign sender', { From: '+15005550001' }, 400, 21606],
  ['the invalid test number', { To: '+15005550001' }, 400, 21211],
  ['the test number of a blocked region', { To: '+15005550003' }, 400, 21408],
  ['the unsubscribed test number', { To: '+15005550004' }, 400, 21610],
  ['the landline test number', { To: '+15005550009' }, 400, 21614],
])('rejects %s', async (_, fields, status, code) => {
  const answer = await post({ ...FIELDS, ...fields });
  expect(answer).toMatchObject({ status, body: { code, status, message: expect.any(String) } });
  expect(answer.body['more_info']).toBe(`https://www.twilio.com/docs/errors/${code}`);
  expect(server.control.messages()).toEqual([]);
});

test('rejects wrong credentials and unknown addresses', async () => {
  expect(await post(FIELDS, { password: 'wrong' })).toMatchObject({ status: 401, body: { code: 20003 } });
  const path = `/2010-04-01/Accounts/AC${'1'.repeat(32)}/Messages.json`;
  expect(await post(FIELDS, { path })).toMatchObject({ status: 404, body: { code: 20404 } });
});

test('answers the queued number of requests with a fault', async () => {
  server.control.fail({ code: 20429, times: 2 });
  expect(await post(FIELDS)).toMatchObject({ status: 429, body: { code: 20429, message: 'Too Many Requests' } });
  expect((await post(FIELDS)).status).toBe(429);
  expect((await post(FIELDS)).status).toBe(201);
});

test('lists messages newest first with their codes, for one number in any spelling', async () => {
  await post({ ...FIELDS, Body: '111111 is your code.' });
  await post({ ...FIELDS, Body: 'No code: 1234567' });
  await post({ ...FIELDS, To: '+491600000000' });
  const list = async (query: string) =>
    (await (await fetch(`${server.url}/sandbox/sms/messages${query}`)).json()) as Record<string, unknown>[];
  expect(await list('')).toHaveLength(3);
  for (const to of ['+4915112345678', '%2B4915112345678', '4915112345678']) {
    expect(await list(`?to=${to}`), to).toEqual([
      { to: FIELDS.To, text: 'No code: 1234567', code: null, at: expect.any(String) },
      { to: FIELDS.To, text: '111111 is your code.', code: '111111', at: expect.any(String) },
    ]);
  }
  await fetch(`${server.url}/sandbox/sms/messages`, { method: 'DELETE' });
  expect(await list('')).toEqual([]);
});

test('escapes texts on its page', async () => {
  await post({ ...FIELDS, Body: '<script>alert(1)</script>' });
  const html = await (await fetch(`${server.url}/sandbox/sms?to=${encodeURIComponent(FIELDS.To)}`)).text();
  expect(html).toContain('&lt;script&gt;alert(1)');
  expect(html).not.toContain('<script>');
  expect(html).toContain('Show all');
});
