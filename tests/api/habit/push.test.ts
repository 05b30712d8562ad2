/** Push messages over HTTP (docs/specification/habit.md 6), against a push service that checks and decrypts them. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { MAX_PUSH_DEVICES, type PushDevice, type PushMessage } from '#domain/habit/push-message.ts';
import { startPushServer, type PushServer, type SimulatedSubscription } from '../../../simulators/push/server.ts';
import { daysAgo, signUp, startDataWorld, type DataWorld, type Person, type WireResponse } from '../data/fixture.ts';

let service: PushServer;
let world: DataWorld;
let publicKey: string;
beforeAll(async () => {
  service = await startPushServer();
  world = await startDataWorld(service.settings);
  publicKey = ((await ask(world.ana, {})).json as { publicKey: string }).publicKey;
});
beforeEach(async () => {
  service.control.clear();
  await world.server.admin.query('delete from push_subscriptions; delete from preferences; delete from mail_tokens');
});
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));
afterAll(async () => {
  await world.close();
  await service.close();
});

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const ask = (person: Person | null, body: unknown): Promise<WireResponse> =>
  world.request(person, 'POST', '/functions/v1/push-subscription', { body, headers: { 'user-agent': CHROME } });
const newBrowser = (): SimulatedSubscription => service.control.subscribe(publicKey);

async function subscribe(person: Person, subscription = newBrowser()): Promise<PushDevice & SimulatedSubscription> {
  const answer = await ask(person, { subscription });
  expect(answer.status, answer.text).toBe(200);
  return { ...(answer.json as PushDevice), ...subscription };
}

const devices = async (person: Person) =>
  (await person.client.from('push_subscriptions').select().order('created_at').throwOnError()).data as {
    id: string;
    device: string;
    last_sent_at: string | null;
  }[];
const renew = (token: string, subscription: unknown): Promise<WireResponse> =>
  world.request(null, 'POST', '/push/renew', { body: { token, subscription } });
const sendNow = (person: Person): Promise<WireResponse> =>
  world.request(person, 'POST', '/functions/v1/send-reminder', { body: {} });
const received = (endpoint: string): PushMessage[] =>
  service.control.messages(endpoint).map(({ text }) => JSON.parse(text) as PushMessage);

test('a device is listed by its name, without what only the server needs', async () => {
  const { id } = await subscribe(world.ana);
  const [row, ...more] = await devices(world.ana);
  expect(more).toEqual([]);
  expect(Object.keys(row!).sort()).toEqual(['created_at', 'device', 'id', 'last_sent_at', 'user_id']);
  expect(row).toMatchObject({ id, device: 'Chrome on Windows', last_sent_at: null });
  expect(await devices(world.ben)).toEqual([]);
  const { error } = await world.ana.client.from('push_subscriptions').select('endpoint');
  expect(error?.code).toBe('42703');
});

test('a browser that subscribes again in its session has one device', async () => {
  await subscribe(world.ana);
  const { id, endpoint } = await subscribe(world.ana);
  const again = await subscribe(world.ana, service.control.subscribe(publicKey));
  expect(again.endpoint).not.toBe(endpoint);
  expect(await devices(world.ana)).toMatchObject([{ id: again.id }]);
  expect(id).not.toBe(again.id);
});

test.each([
  ['a guest', null, 401],
  ['a number', 7, 400],
  ['no keys', { endpoint: 'https://fcm.googleapis.com/a' }, 400],
])('refuses %s', async (_name, subscription, status) => {
  const answer = await ask(status === 401 ? null : world.ana, { subscription });
  expect(answer.status).toBe(status);
});

test('refuses a key that is no point of the curve', async () => {
  const { endpoint, keys } = newBrowser();
  const p256dh = Buffer.alloc(65, 4).toString('base64url');
  expect((await ask(world.ana, { subscription: { endpoint, keys: { ...keys, p256dh } } })).status).toBe(400);
});

test.each(['http://127.0.0.1:5432/', 'https://169.254.169.254/latest/meta-data', 'https://localhost/push'])(
  'refuses the endpoint %s, and sends nothing there',
  async (endpoint) => {
    const { keys } = newBrowser();
    expect((await ask(world.ana, { subscription: { endpoint, keys } })).status).toBe(403);
    const { renewalToken } = await subscribe(world.ana);
    expect((await renew(renewalToken, { endpoint, keys })).status).toBe(400);
    const { rows } = await world.server.admin.query('select from push_subscriptions where endpoint = $1', [endpoint]);
    expect(rows).toEqual([]);
  },
);

test("an endpoint of another user's browser is refused without the keys of the browser, and moves with them", async () => {
  const browser = await subscribe(world.ana);
  const stolen = { endpoint: browser.endpoint, keys: newBrowser().keys };
  expect((await ask(world.ben, { subscription: stolen })).status).toBe(409);
  expect(await devices(world.ana)).toHaveLength(1);
  // The next user of the same browser.
  await subscribe(world.ben, { endpoint: browser.endpoint, keys: browser.keys });
  expect(await devices(world.ana)).toEqual([]);
  expect(await devices(world.ben)).toHaveLength(1);
});

test('another user can neither read nor remove a device, and its owner can', async () => {
  const { id } = await subscribe(world.ana);
  await world.ben.client.from('push_subscriptions').delete().eq('id', id).throwOnError();
  expect(await devices(world.ana)).toHaveLength(1);
  await world.ana.client.from('push_subscriptions').delete().eq('user_id', world.ana.id).eq('id', id).throwOnError();
  expect(await devices(world.ana)).toEqual([]);
});

test('refuses one device too many, also at the same moment, and none that is known', async () => {
  const sessions = await Promise.all(
    Array.from({ length: MAX_PUSH_DEVICES + 2 }, async () => {
      const { data } = await world.ana.client.auth.signInWithPassword({
        email: 'ana@example.com',
        password: 'correct horse',
      });
      return { ...world.ana, token: data.session!.access_token };
    }),
  );
  const browsers = sessions.map(() => newBrowser());
  const answers = await Promise.all(sessions.map((session, index) => ask(session, { subscription: browsers[index] })));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(MAX_PUSH_DEVICES).fill(200), 409, 409]);
  const known = answers.findIndex(({ status }) => status === 200);
  await subscribe(sessions[known]!, browsers[known]);
});

test('a device ends with its session, and all end with the account', async () => {
  const eve = await signUp(world.server, 'eve');
  const { endpoint, renewalToken } = await subscribe(eve);
  const signedOut = await world.request(eve, 'POST', '/auth/v1/logout?scope=local');
  expect(signedOut.status).toBe(204);
  const { rows } = await world.server.admin.query('select from push_subscriptions where endpoint = $1', [endpoint]);
  expect(rows).toEqual([]);
  expect((await renew(renewalToken, newBrowser())).status).toBe(410);
});

test('a service worker without a session replaces its own subscription alone', async () => {
  const first = await subscribe(world.ana);
  const other = await subscribe(world.ben);
  const next = newBrowser();
  expect((await renew(first.renewalToken, next)).status).toBe(200);
  expect((await renew(first.renewalToken.replace(/.{9}$/, 'a23456723'), newBrowser())).status).toBe(410);
  expect((await renew('', newBrowser())).status).toBe(410);
  // Threat: the endpoint of another user's browser.
  expect((await renew(first.renewalToken, { endpoint: other.endpoint, keys: next.keys })).status).toBe(410);
  expect((await sendNow(world.ana)).status).toBe(200);
  expect(received(next.endpoint)).toHaveLength(1);
  expect(received(other.endpoint)).toEqual([]);
});

test('a personal access token neither adds nor removes a device', async () => {
  const { id } = await subscribe(world.ana);
  const token = await world.request(world.ana, 'POST', '/auth/v1/tokens', {
    body: { name: 'Script', scopes: ['append', 'read'], days: 30 },
  });
  expect(token.status, token.text).toBeLessThan(300);
  const bearer = { ...world.ana, token: (token.json as { token: string }).token };
  expect((await ask(bearer, { subscription: newBrowser() })).status).toBe(403);
  expect((await world.request(bearer, 'DELETE', `/rest/v1/push_subscriptions?id=eq.${id}`)).status).toBe(401);
  expect(await devices(world.ana)).toHaveLength(1);
});

test('"Send me one now" shows the day and the question, and the tap stores what it says', async () => {
  await world.ana.client
    .from('entries')
    .insert({ user_id: world.ana.id, date: daysAgo(1), content: '<p>Secret plans</p>' })
    .throwOnError();
  const [one, two] = [await subscribe(world.ana), await subscribe(await signUp(world.server, 'finn'))];
  const answer = await sendNow(world.ana);
  expect(answer.json).toEqual({ success: true, email: null, devices: 1 });
  expect(received(two.endpoint)).toEqual([]);
  const [message] = received(one.endpoint);
  expect(message).toEqual({
    day: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    prompt: 'What did you get done today?',
    tap: expect.stringMatching(/^[a-z2-7]{52}$/),
  });
  const tap = await world.request(null, 'POST', `/evening/${message!.tap}?entry=0`);
  expect(tap.status).toBe(200);
  const { data } = await world.ana.client.from('entries').select('content_text').eq('date', message!.day).single();
  expect(data?.content_text).toBe('Did nothing today');
  expect((await devices(world.ana))[0]!.last_sent_at).not.toBeNull();
});
