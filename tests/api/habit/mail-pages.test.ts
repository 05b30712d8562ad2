/** The reminder that is sent at once, and the pages behind the links of a mail (docs/specification/habit.md 3). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestServer } from '../../support/start-server.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { signUp, type Person } from '../data/fixture.ts';

const server = setUpWorld(() =>
  startTestServer({ settings: { AUTH_RATE_LIMITS: 'off' }, logTo: { write: (line) => void lines.push(line) } }),
);
let ana: Person;
let ben: Person;
const lines: string[] = [];
beforeAll(async () => {
  ana = await signUp(server, 'ana');
  ben = await signUp(server, 'ben');
  await server.admin.query('update auth.users set email_confirmed_at = now()');
});
beforeEach(async () => {
  await server.admin.query(
    'delete from entries; delete from entry_versions; delete from preferences; delete from mail_tokens',
  );
  for (const { id } of [ana, ben]) {
    await server.admin.query(
      "insert into preferences (user_id, time_zone, remind_at, remind_by_mail, digest) values ($1, 'UTC', 1080, true, true)",
      [id],
    );
  }
});

const call = (path: string, init?: RequestInit) => fetch(path.startsWith('http') ? path : server.url + path, init);
const sendNow = (person: Person) =>
  call('/functions/v1/send-reminder', {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: '{}',
  });

/** The links of a mail that was sent just now. */
async function readLinks(person: Person, email = 'ana@example.com') {
  expect((await sendNow(person)).status).toBe(200);
  const { links } = server.mailbox.messagesTo(email)[0]!;
  return {
    taps: links.filter((link) => link.includes('/evening/')),
    unsubscribe: links.find((link) => link.includes('/unsubscribe/'))!,
  };
}

const readLogs = async () =>
  (
    await server.admin.query<{ user_id: string; text: string; date: string }>(
      'select user_id, content_text as text, date::text from entries',
    )
  ).rows;
const readPreferences = async ({ id }: Person) =>
  (await server.admin.query('select remind_by_mail, digest from preferences where user_id = $1', [id])).rows[0];
const post = (link: string, init?: RequestInit) => call(link, { method: 'POST', ...init });

describe('a link of a quick entry', () => {
  test('opens a page with one button and changes nothing, whoever fetches it', async () => {
    const { taps } = await readLinks(ana);
    expect(taps).toHaveLength(4);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const response = await call(taps[0]!, { method, headers: { purpose: 'prefetch' } });
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('strict-origin');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      const html = await response.text();
      if (method === 'GET') {
        expect(html.match(/<button/g)).toHaveLength(1);
        expect(html).toContain('Did nothing today');
        expect(html).toContain('noindex');
      }
    }
    expect(await readLogs()).toEqual([]);
  });

  test('stores the entry by its button, once', async () => {
    const { taps } = await readLinks(ana);
    for (let count = 0; count < 2; count += 1) {
      const response = await post(taps[2]!);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('“I am sick” is your log of');
    }
    const today = server.clock.now().toISOString().slice(0, 10);
    expect(await readLogs()).toEqual([{ user_id: ana.id, text: 'I am sick', date: today }]);
    const { rows } = await server.admin.query(
      'select content like \'<h2 class="date-header">%\' as header from entries',
    );
    expect(rows).toEqual([{ header: true }]);
  });

  test('leaves a day with words as it is', async () => {
    const { taps } = await readLinks(ana);
    await server.admin.query(
      "insert into entries (user_id, date, content) values ($1, (now() at time zone 'UTC')::date, '<p>Shipped it</p>')",
      [ana.id],
    );
    expect((await call(taps[0]!)).status).toBe(409);
    const response = await post(taps[0]!);
    expect(response.status).toBe(409);
    expect(await response.text()).toContain('This day has words already');
    expect(await readLogs()).toMatchObject([{ text: 'Shipped it' }]);
  });

  test('fills a log that the user has emptied', async () => {
    const { taps } = await readLinks(ana);
    await server.admin.query(
      "insert into entries (user_id, date, content) values ($1, (now() at time zone 'UTC')::date, '<p></p>')",
      [ana.id],
    );
    expect((await post(taps[1]!)).status).toBe(200);
    expect(await readLogs()).toMatchObject([{ text: 'Had a lazy day' }]);
  });

  test('works for three days', async () => {
    const { taps } = await readLinks(ana);
    await server.admin.query("update mail_tokens set expires_at = now() - interval '1 second'");
    for (const response of [await call(taps[0]!), await post(taps[0]!)]) expect(response.status).toBe(410);
    expect(await readLogs()).toEqual([]);
  });

  test.each(["banned_until = now() + interval '1 year'", "deletion_due_at = now() + interval '1 hour'"])(
    'rests while its owner has %s',
    async (state) => {
      const { taps } = await readLinks(ana);
      await server.admin.query(`update auth.users set ${state} where id = $1`, [ana.id]);
      for (const response of [await call(taps[0]!), await post(taps[0]!)]) expect(response.status).toBe(410);
      await server.admin.query('update auth.users set banned_until = null, deletion_due_at = null');
      expect(await readLogs()).toEqual([]);
      expect((await post(taps[0]!)).status).toBe(200);
    },
  );

  test.each([
    ['of another user', (token: string, other: string) => other.slice(0, 26) + token.slice(26)],
    ['with another last letter', (token: string) => token.slice(0, -2) + (token.endsWith('aa') ? 'bb' : 'aa')],
    ['that is cut', (token: string) => token.slice(0, -1)],
    ['that is a user id', () => ana.id],
    ['that is no text of ours', () => '%00%ff'],
  ])('rejects a token %s', async (_name, forge) => {
    const tokenOf = (link: string): string => /evening\/([^?]+)/.exec(link)![1]!;
    const token = tokenOf((await readLinks(ana)).taps[0]!);
    const other = tokenOf((await readLinks(ben, 'ben@example.com')).taps[0]!);
    for (const method of ['GET', 'POST']) {
      const { status } = await call(`/evening/${forge(token, other)}?entry=0`, { method });
      expect([400, 410]).toContain(status);
    }
    expect(await readLogs()).toEqual([]);
  });

  test.each(['', '?entry=', '?entry=9', '?entry=-1', '?entry=__proto__', '?entry=0.5'])(
    'rejects the entry %j',
    async (query) => {
      const link = (await readLinks(ana)).taps[0]!.replace(/\?.*/, query);
      const { status } = await post(link);
      expect([status, await readLogs()]).toEqual([410, []]);
    },
  );

  test('a token of the reply address opens no page', async () => {
    const { taps } = await readLinks(ana);
    await server.admin.query("update mail_tokens set purpose = 'reply'");
    expect((await post(taps[0]!)).status).toBe(410);
  });
});

describe('unsubscribing', () => {
  test('needs the button of the page, or one click of the mail client', async () => {
    const { unsubscribe } = await readLinks(ana);
    const page = await call(unsubscribe);
    expect([page.status, await readPreferences(ana)]).toEqual([200, { remind_by_mail: true, digest: true }]);
    const oneClick = await post(unsubscribe, { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
    expect([oneClick.status, await readPreferences(ana)]).toEqual([200, { remind_by_mail: false, digest: true }]);
    expect((await post(unsubscribe)).status).toBe(200);
    expect(await readPreferences(ben)).toEqual({ remind_by_mail: true, digest: true });
  });

  test('by an old mail does not turn off what was turned on again since', async () => {
    const { unsubscribe } = await readLinks(ana);
    await post(unsubscribe);
    await server.admin.query('update preferences set remind_by_mail = true where user_id = $1', [ana.id]);
    await server.admin.query("update reminder_schedule set on_since = now() + interval '1 hour' where user_id = $1", [
      ana.id,
    ]);
    expect((await post(unsubscribe)).status).toBe(410);
    expect(await readPreferences(ana)).toMatchObject({ remind_by_mail: true });
  });

  test('rejects a forged token', async () => {
    const { unsubscribe } = await readLinks(ana);
    for (const at of [0, 20, 30, 35, 58]) {
      const url = new URL(unsubscribe);
      const token = url.pathname.split('/')[2]!;
      url.pathname = `/unsubscribe/${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
      expect((await post(url.href)).status, String(at)).toBe(410);
    }
    expect(await readPreferences(ana)).toMatchObject({ remind_by_mail: true });
  });
});

test('a reminder at once needs a proven address', async () => {
  await server.admin.query('update auth.users set email_confirmed_at = null where id = $1', [ben.id]);
  const response = await sendNow(ben);
  await server.admin.query('update auth.users set email_confirmed_at = now() where id = $1', [ben.id]);
  expect([response.status, await response.json()]).toEqual([
    403,
    { success: false, error: 'Confirm your email address in your profile first.' },
  ]);
});

test('no token is in a line of the log', async () => {
  const { taps, unsubscribe } = await readLinks(ana);
  await call(taps[0]!);
  await post(taps[0]!);
  await post(unsubscribe);
  await call(taps[0]!.replace('/evening/', '/evening/x'));
  const all = lines.join('');
  expect(all).toContain('/evening/:token');
  for (const link of [taps[0]!, unsubscribe]) expect(all).not.toContain(new URL(link).pathname.split('/')[2]!);
});
