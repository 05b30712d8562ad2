/** Slack's slash command (docs/specification/capture.md 5). */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  commandBody,
  SLACK_SECRET,
  SLACK_SETTINGS,
  signedHeaders,
  type SlashCommand,
} from '../../../simulators/slack/server.ts';
import { setUpAuthWorld } from '../auth/fixture.ts';
import { ok } from '../auth/factors/factor-client.ts';

const world = setUpAuthWorld(SLACK_SETTINGS);

const newSlackUser = (): string => `U${randomUUID().replaceAll('-', '').toUpperCase()}`;

async function post(body: string, headers: Record<string, string>) {
  const response = await fetch(`${world.url}/functions/v1/slack`, { method: 'POST', headers, body });
  return { status: response.status, json: (await response.json().catch(() => null)) as { text: string } | null };
}

async function say(userId: string, text: string, more: Partial<SlashCommand> = {}): Promise<string> {
  const body = commandBody({ userId, userName: 'ada', text, ...more });
  const { status, json } = await post(body, signedHeaders(body, SLACK_SECRET, world.clock.now().getTime()));
  expect([status, json]).toEqual([200, { response_type: 'ephemeral', text: expect.any(String) }]);
  return json!.text;
}

async function linkTo(user: string, access: string): Promise<void> {
  const answer = await say(user, 'link');
  const code = /\?slack=([\w-]{43})\|/.exec(answer)![1]!;
  expect(ok(await world.request('POST', '/connect/show', { token: access, body: { code } }))).toEqual({
    kind: 'slack',
    name: 'ada in sandbox',
    scopes: ['append'],
    user_code: null,
  });
  const allowed = { code, days: 365, time_zone: 'Europe/Vienna' };
  expect((await world.request('POST', '/connect/allow', { token: access, body: allowed })).status).toBe(204);
  // It works once.
  expect((await world.request('POST', '/connect/allow', { token: access, body: allowed })).status).toBe(404);
}

async function textOf(userId: string): Promise<string | undefined> {
  const { rows } = await world.admin.query<{ text: string }>(
    'select content_text as text from entries where user_id = $1',
    [userId],
  );
  return rows[0]?.text;
}

test('a linked Slack user appends what was typed, once for each command', async () => {
  const [ana, user] = [await world.signUpUser(), newSlackUser()];
  expect(await say(user, 'Shipped it')).toBe('Your journal is not linked yet. Send `/hustle link`.');
  await linkTo(user, ana.access);
  const triggerId = randomUUID();
  for (let times = 0; times < 2; times += 1)
    expect(await say(user, 'Shipped <it> & more', { triggerId })).toMatch(/^Added to \w+ - \w+ \d+, \d{4}\.$/);
  expect(await textOf(ana.id)).toBe('Shipped <it> & more');
  const body = commandBody({ userId: user, userName: 'ada', text: '' }).replace(
    /&text=&/,
    `&text=${encodeURIComponent('Met <@U1|ben> in <#C1|ops>: <https://a.example/?x=1&amp;y|a.example>')}&`,
  );
  await post(body, signedHeaders(body, SLACK_SECRET, world.clock.now().getTime()));
  expect(await textOf(ana.id)).toBe('Shipped <it> & more\nMet @ben in #ops: https://a.example/?x=1&y');
});

test('the owner of the account gets a mail about a linked Slack user', async () => {
  const ana = await world.signUpUser();
  await linkTo(newSlackUser(), ana.access);
  const mail = await world.waitForMailWith('Slack was linked', ana.email);
  expect(mail.links[0]).toBe(`${world.config.publicUrl}/settings`);
});

test('says what it can do and why it did not, and unlinks here and in Settings', async () => {
  const [ana, user] = [await world.signUpUser(), newSlackUser()];
  await linkTo(user, ana.access);
  for (const text of ['', 'help']) expect(await say(user, text, { command: '/log' })).toContain('`/log Shipped');
  expect(await say(user, 'x'.repeat(16_001))).toMatch(/^Not added\. /);
  expect(await textOf(ana.id)).toBeUndefined();
  expect(await say(user, 'unlink')).toMatch(/^Unlinked\./);
  expect(await say(user, 'Shipped it')).toContain('not linked');

  await linkTo(user, ana.access);
  const { slack_links: links } = ok(await world.request('GET', '/tokens', { token: ana.access }));
  expect(links).toMatchObject([{ team: 'T0SANDBOX', user, name: 'ada in sandbox' }]);
  const ben = await world.signUpUser();
  const body = { team: 'T0SANDBOX', user };
  expect((await world.request('POST', '/connect/unlink', { token: ben.access, body })).status).toBe(404);
  expect((await world.request('POST', '/connect/unlink', { token: ana.access, body })).status).toBe(204);
  expect(await say(user, 'Shipped it')).toContain('not linked');
});

test('a later link writes to its account, and a banned or deleted one gets nothing', async () => {
  const [ana, ben, user] = [await world.signUpUser(), await world.signUpUser(), newSlackUser()];
  await linkTo(user, ana.access);
  await linkTo(user, ben.access);
  await say(user, 'for Ben');
  expect([await textOf(ana.id), await textOf(ben.id)]).toEqual([undefined, 'for Ben']);
  await world.admin.query("update auth.users set banned_until = now() + interval '1 day' where id = $1", [ben.id]);
  expect(await say(user, 'banned')).toContain('not linked');
  await world.admin.query('delete from auth.users where id = $1', [ben.id]);
  expect(await say(user, 'gone')).toContain('not linked');
});

test('a refused link connects nothing', async () => {
  const [ana, user] = [await world.signUpUser(), newSlackUser()];
  const code = /\?slack=([\w-]{43})\|/.exec(await say(user, 'link'))![1]!;
  expect((await world.request('POST', '/connect/refuse', { token: ana.access, body: { code } })).status).toBe(204);
  expect((await world.request('POST', '/connect/allow', { token: ana.access, body: { code, days: 30 } })).status).toBe(
    404,
  );
  // Nor can a program fetch a token with the code of the link.
  const poll = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code };
  expect(await world.request('POST', '/device/token', { body: poll })).toMatchObject({
    body: { error: 'expired_token' },
  });
});

describe('the signature', () => {
  const now = (): number => world.clock.now().getTime();
  const body = commandBody({ userId: 'U1', userName: 'ada', text: 'help' });

  test.each([
    ['with another secret', () => signedHeaders(body, 'another-signing-secret', now())],
    ['six minutes old', () => signedHeaders(body, SLACK_SECRET, now() - 360_000)],
    ['six minutes ahead', () => signedHeaders(body, SLACK_SECRET, now() + 360_000)],
    ['of another body', () => signedHeaders(`${body}x`, SLACK_SECRET, now())],
    [
      'with another time',
      () => ({
        ...signedHeaders(body, SLACK_SECRET, now() - 5_000),
        'X-Slack-Request-Timestamp': String(Math.floor(now() / 1_000)),
      }),
    ],
    ['of version v1', () => ({ ...signedHeaders(body, SLACK_SECRET, now()), 'X-Slack-Signature': 'v1=00' })],
    ['that is missing', () => ({ 'Content-Type': 'application/x-www-form-urlencoded' })],
    [
      'without a number as time',
      () => ({ ...signedHeaders(body, SLACK_SECRET, now()), 'X-Slack-Request-Timestamp': 'NaN' }),
    ],
  ])('%s is refused', async (_, headers) => {
    expect(await post(body, headers())).toMatchObject({ status: 401, json: { code: 'bad_signature' } });
  });

  test('four minutes old is accepted, and so is the check of the certificate', async () => {
    expect((await post(body, signedHeaders(body, SLACK_SECRET, now() - 240_000))).status).toBe(200);
    const check = 'ssl_check=1&token=x';
    expect((await post(check, signedHeaders(check, SLACK_SECRET, now()))).status).toBe(200);
  });
});

test('a person who sends too many commands waits', async () => {
  const user = newSlackUser();
  const answers: string[] = [];
  for (let count = 0; count < 32; count += 1) answers.push(await say(user, 'help'));
  expect(answers.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => answers[0]));
  expect(answers.at(-1)).toMatch(/^Too many commands\./);
});
