/** The reply to a reminder becomes items of its day (docs/specification/habit.md 5), by SMTP and by webhook. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '#server/database/embedded/endpoint.ts';
import {
  deliverAsPostmark,
  openSmtpClient,
  startMailProvider,
  type MailProvider,
} from '../../../simulators/mail-client/mail-provider.ts';
import { MAIL_CLIENTS, writeReply } from '../../../simulators/mail-client/mail-clients.ts';
import { startTestServer, type TestServer } from '../../support/start-server.ts';
import { signUp, type Person } from '../data/fixture.ts';

const PASSWORD = 'a-long-postmark-password';
const ANA = 'ana@example.com';

let server: TestServer;
let provider: MailProvider;
let ana: Person;
const lines: string[] = [];
beforeAll(async () => {
  provider = await startMailProvider();
  server = await startTestServer({
    settings: {
      AUTH_RATE_LIMITS: 'off',
      INBOUND_DOMAIN: 'reply.example.org',
      INBOUND_SMTP_PORT: String(await freePort()),
      INBOUND_DNS: provider.dns.address,
      INBOUND_POSTMARK_PASSWORD: PASSWORD,
    },
    logTo: { write: (line) => void lines.push(line) },
  });
  ana = await signUp(server, 'ana');
  await server.admin.query('update auth.users set email_confirmed_at = now()');
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await server.close();
  await provider.close();
});
beforeEach(async () => {
  await server.admin.query(
    'delete from entries; delete from entry_versions; delete from appended_items; delete from mail_tokens; delete from auth.rate_limits',
  );
});

const webhook = (): string => `${server.url}/functions/v1/inbound-mail/postmark`;

/** The reminder that was sent just now, as the user's mail program has it. */
async function readReminder(person: Person = ana, address = ANA) {
  const response = await fetch(`${server.url}/functions/v1/send-reminder`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(response.status).toBe(200);
  const { subject, text, html, replyTo, messageId } = server.mailbox.messagesTo(address)[0]!;
  return { replyTo: replyTo!, original: { from: 'Hustle Forge <journal@localhost>', subject, text, html, messageId } };
}

type Reminder = Awaited<ReturnType<typeof readReminder>>;
const reply = ({ replyTo, original }: Reminder, words: string, client = 'Gmail', from = ANA): string =>
  writeReply(client, { from, to: replyTo, words, original });

type How = {
  from?: string;
  signedBy?: string | null;
  /** The last number of the sender's address: the SMTP port takes 120 mails a minute of each. */
  host?: number;
};
const clients = new Map<number, ReturnType<typeof openSmtpClient>>();
async function send(raw: string, to: string, { from = ANA, signedBy = 'example.com', host = 1 }: How = {}) {
  const client = clients.get(host) ?? openSmtpClient(server.config.inbound!.smtp!.port, `127.0.0.${host}`);
  clients.set(host, client);
  return client.deliver(signedBy === null ? raw : await provider.sign(raw, signedBy), { from, to });
}

const readLog = async (): Promise<string[]> =>
  (await server.admin.query<{ text: string }>('select content_text as text from entries order by date')).rows.map(
    ({ text }) => text,
  );

describe.each(Object.keys(MAIL_CLIENTS))('a reply of %s', (client) => {
  test('by SMTP becomes items of the day, and is answered in its thread', async () => {
    const reminder = await readReminder();
    const raw = reply(reminder, 'Shipped the billing page\nReviewed two pull requests', client);
    expect(await send(raw, reminder.replyTo)).toMatch(/^250/);
    expect(await readLog()).toEqual(['Shipped the billing page\nReviewed two pull requests']);
    await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.text).toContain('Added to your log of');
    const answer = server.mailbox.messagesTo(ANA)[0]!;
    expect(answer.text).toContain('1. Shipped the billing page\n2. Reviewed two pull requests');
    expect(answer.headers).toMatchObject({
      'auto-submitted': 'auto-replied',
      'in-reply-to': /^Message-ID: (.+)$/im.exec(raw)![1],
    });
    expect(answer.replyTo).toBe(reminder.replyTo);
  });
});

test('a reply by the webhook of Postmark is stored once, however often it is sent', async () => {
  const reminder = await readReminder();
  const raw = await provider.sign(reply(reminder, '- One\n- Two'), 'example.com');
  for (let count = 0; count < 2; count += 1) {
    const response = await deliverAsPostmark(webhook(), PASSWORD, raw, { from: ANA, to: reminder.replyTo });
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
  }
  expect(await readLog()).toEqual(['One\nTwo']);
});

test('the webhook refuses a wrong password before it reads the body', async () => {
  const reminder = await readReminder();
  const raw = await provider.sign(reply(reminder, 'One'), 'example.com');
  expect((await deliverAsPostmark(webhook(), 'wrong', raw, { from: ANA, to: reminder.replyTo })).status).toBe(401);
  expect((await fetch(webhook(), { method: 'POST', body: '{' })).status).toBe(401);
  expect(await readLog()).toEqual([]);
});

test('a reply adds to a day with words, and a reply to the answer adds more', async () => {
  const reminder = await readReminder();
  await send(await raw('One'), reminder.replyTo);
  await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.text).toContain('Added to your log of');
  const { subject, text, html, replyTo, messageId } = server.mailbox.messagesTo(ANA)[0]!;
  const original = { from: 'Hustle Forge <journal@localhost>', subject, text, html, messageId };
  for (const client of ['Gmail', 'Outlook for Windows', 'Thunderbird'])
    await send(reply({ replyTo: replyTo!, original }, `Two by ${client}`, client), replyTo!);
  expect(await readLog()).toEqual(['One\nTwo by Gmail\nTwo by Outlook for Windows\nTwo by Thunderbird']);

  async function raw(words: string): Promise<string> {
    return reply(reminder, words);
  }
});

describe('a mail that is dropped without an answer', () => {
  /** Sends a mail and expects that nothing is stored and nobody gets a mail. */
  async function expectDropped(reminder: Reminder, mail: string, reason: string, options: How = {}) {
    const before = server.mailbox.messages().length;
    const seen = lines.length;
    const outcome = await send(mail, reminder.replyTo, options).catch((error: Error) => error.message);
    expect(outcome).toMatch(/550/);
    expect(await readLog()).toEqual([]);
    expect(server.mailbox.messages().length).toBe(before);
    // An unknown address is refused before the mail is sent.
    const read = /"reason":"(\w+)"/.exec(lines.slice(seen).find((line) => line.includes('"inbound"')) ?? '')?.[1];
    expect(read ?? 'no such address').toBe(reason);
  }
  const header = (mail: string, line: string): string => mail.replace('MIME-Version', `${line}\r\nMIME-Version`);

  const changeFrom = (mail: string, from: string): string => mail.replace(`From: ${ANA}`, from);

  test.each<[string, (mail: string) => string, string, (string | null)?]>([
    ['with a forged From', (mail) => mail, 'not_authenticated', null],
    ['signed by another domain', (mail) => mail, 'not_authenticated', 'stranger.example'],
    [
      'with the account as the name of another sender',
      (mail) => changeFrom(mail, `From: "${ANA}" <eve@stranger.example>`),
      'foreign_sender',
      'stranger.example',
    ],
    ['with two From', (mail) => changeFrom(mail, `From: ${ANA}\r\nFrom: eve@stranger.example`), 'sender'],
    ['with two addresses in From', (mail) => changeFrom(mail, `From: ${ANA}, eve@stranger.example`), 'sender'],
    ['with a group in From', (mail) => changeFrom(mail, `From: team: ${ANA};`), 'sender'],
    ['that is an automatic reply', (mail) => header(mail, 'Auto-Submitted: auto-replied'), 'automatic'],
    ['that is a vacation notice', (mail) => header(mail, 'Precedence: bulk'), 'automatic'],
    ['of a mailing list', (mail) => header(mail, 'List-Id: <dev.example.com>'), 'automatic'],
    [
      'that is a delivery report',
      (mail) => mail.replace('multipart/alternative', 'multipart/report; report-type=delivery-status'),
      'automatic',
    ],
    ['that was sent to somebody else', (mail) => mail.replace(/^To: .*$/m, 'To: ben@example.com'), 'not_addressed'],
    [
      'that was sent to somebody else, and got a second To',
      (mail) => mail.replace(/^To: (.*)$/m, 'To: ben@example.com\r\nTo: $1'),
      'malformed',
    ],
    ['with two texts', (mail) => header(mail, 'Content-Type: text/plain'), 'malformed'],
    ['with 128 KB of headers', (mail) => header(mail, `X-Long: ${`${'a'.repeat(900)}\r\n `.repeat(150)}`), 'malformed'],
    ['with a thousand nested parts', (mail) => nest(mail, 1_000), 'malformed'],
    [
      'with eleven signatures',
      (mail) => header(mail, 'DKIM-Signature: v=1\r\n'.repeat(11).trimEnd()),
      'many_signatures',
    ],
  ])('%s', async (_name, change, reason, signedBy = 'example.com') => {
    const reminder = await readReminder();
    await expectDropped(reminder, change(reply(reminder, 'One')), reason, { signedBy });
  });

  test('with a signature over the beginning of its body', async () => {
    const reminder = await readReminder();
    const signed = await provider.sign(reply(reminder, 'One'), 'example.com', { maxBodyLength: 10 });
    await expectDropped(reminder, signed, 'not_authenticated', { signedBy: null });
  });

  test('that was changed after it was signed', async () => {
    const reminder = await readReminder();
    const signed = await provider.sign(
      writeReply('Thunderbird', { from: ANA, to: reminder.replyTo, words: 'One', original: reminder.original }),
      'example.com',
    );
    await expectDropped(reminder, signed.replace(/^T24g/m, 'T25g'), 'not_authenticated', { signedBy: null });
  });

  test('that the user has signed for somebody else, with our address added to it', async () => {
    const reminder = await readReminder();
    const mail = reply(reminder, 'One').replace(/^Subject: .*$/m, 'Subject: Lunch');
    const toOther = mail.replace(/^To: .*$/m, 'To: ben@example.com');
    const [covered, uncovered] = await Promise.all(
      ['from:to:subject', 'from:subject'].map((headerList) => provider.sign(toOther, 'example.com', { headerList })),
    );
    const as = { signedBy: null };
    await expectDropped(
      reminder,
      covered!.replace('To: ben@example.com', `To: ${reminder.replyTo}`),
      'not_authenticated',
      as,
    );
    for (const signed of [covered!, uncovered!])
      await expectDropped(reminder, `Cc: ${reminder.replyTo}\r\n${signed}`, 'not_authenticated', as);
    await expectDropped(
      reminder,
      uncovered!.replace('To: ben@example.com', `To: ${reminder.replyTo}`),
      'not_authenticated',
      as,
    );
  });

  test.each([
    [
      'an account that is banned',
      "update auth.users set banned_until = now() + interval '1 day' where id = $1",
      'no such address',
    ],
    [
      'an account that is about to be deleted',
      "update auth.users set deletion_due_at = now() + interval '1 day' where id = $1",
      'no such address',
    ],
    [
      'an address that is not proven any more',
      'update auth.users set email_confirmed_at = null where id = $1',
      'no_account',
    ],
    [
      'an account that has moved to another address',
      "update auth.users set email = 'ana2@example.com' where id = $1",
      'foreign_sender',
    ],
    [
      'a token that has expired',
      "update mail_tokens set expires_at = now() - interval '1 second' where user_id = $1",
      'no such address',
    ],
    ['a token of a tap', "update mail_tokens set purpose = 'tap' where user_id = $1", 'no such address'],
  ])('of %s', async (_name, change, reason) => {
    const reminder = await readReminder();
    await server.admin.query(change, [ana.id]);
    await expectDropped(reminder, reply(reminder, 'One'), reason);
    await server.admin.query(
      'update auth.users set banned_until = null, deletion_due_at = null, email_confirmed_at = now(), email = $2 where id = $1',
      [ana.id, ANA],
    );
  });

  test('to an address that has no token', async () => {
    const reminder = await readReminder();
    const other = `${reminder.replyTo.slice(0, 10)}${reminder.replyTo[10] === 'a' ? 'b' : 'a'}${reminder.replyTo.slice(11)}`;
    for (const to of [
      other,
      'log@reply.example.org',
      'ana@reply.example.org',
      `log+@reply.example.org`,
      'postmaster@example.org',
    ])
      await expectDropped({ ...reminder, replyTo: to }, reply({ ...reminder, replyTo: to }, 'One'), 'no such address');
  });

  test('a second time, by its Message-ID or by its words', async () => {
    const reminder = await readReminder();
    const mail = reply(reminder, 'One');
    await send(mail, reminder.replyTo);
    await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.text).toContain('Added to your log of');
    const before = server.mailbox.messages().length;
    await send(mail, reminder.replyTo);
    await send(mail.replace(/^Message-ID: <.{8}/m, 'Message-ID: <another'), reminder.replyTo);
    expect(await readLog()).toEqual(['One']);
    expect(server.mailbox.messages().length).toBe(before);
  });
});

describe('a limit', () => {
  test('of a user makes mails wait, and answers stop before', async () => {
    const reminder = await readReminder();
    const before = server.mailbox.messages().length;
    for (let count = 0; count < 30; count += 1)
      expect(await send(reply(reminder, `Line ${count}`), reminder.replyTo, { host: 2 })).toMatch(/^250/);
    await expect(send(reply(reminder, 'Line 30'), reminder.replyTo, { host: 2 })).rejects.toThrow(/451/);
    expect((await readLog())[0]!.split('\n')).toHaveLength(30);
    await expect.poll(() => server.mailbox.messages().length).toBe(before + 10);
  });

  test('is not spent by a mail that is sent again and again', async () => {
    const reminder = await readReminder();
    const mail = reply(reminder, 'One');
    for (let count = 0; count < 35; count += 1) expect(await send(mail, reminder.replyTo, { host: 3 })).toMatch(/^250/);
    expect(await send(reply(reminder, 'Two'), reminder.replyTo)).toMatch(/^250/);
    expect(await readLog()).toEqual(['One\nTwo']);
  });

  test('of a user is not spent by strangers, who by SMTP end the mails of their network alone', async () => {
    const reminder = await readReminder();
    const stranger = (count: number) => reply(reminder, `${count}`, 'Gmail', 'eve@stranger.example');
    const answers: string[] = [];
    for (let count = 0; count < 65; count += 1)
      answers.push(
        await send(stranger(count), reminder.replyTo, {
          from: 'eve@stranger.example',
          signedBy: 'stranger.example',
          host: 4,
        }).catch((error: Error) => /\b[45]\d\d\b/.exec(error.message)![0]),
      );
    expect(answers).toEqual([...Array.from({ length: 60 }, () => '550'), ...Array.from({ length: 5 }, () => '451')]);
    expect(await send(reply(reminder, 'One'), reminder.replyTo)).toMatch(/^250/);
    expect(await readLog()).toEqual(['One']);
    // The next mail of ours has another address.
    const next = await readReminder();
    expect(await send(reply(next, 'Two'), next.replyTo)).toMatch(/^250/);
  });
});

describe('DNS', () => {
  afterEach(() => provider.answers.clear());

  test.each(['SERVFAIL', 'silence'] as const)('that fails (%s) loses no mail', async (answer) => {
    const reminder = await readReminder();
    const mail = await provider.sign(reply(reminder, 'One'), 'example.com');
    const post = () => deliverAsPostmark(webhook(), PASSWORD, mail, { from: ANA, to: reminder.replyTo });
    provider.answers.set('sandbox._domainkey.example.com', answer);
    const refused = expect(send(mail, reminder.replyTo, { signedBy: null })).rejects.toThrow(/451/);
    expect((await post()).status).toBe(503);
    await refused;
    expect(await readLog()).toEqual([]);
    provider.answers.clear();
    expect(await send(mail, reminder.replyTo, { signedBy: null })).toMatch(/^250/);
    expect((await post()).status).toBe(200);
    expect(await readLog()).toEqual(['One']);
  });

  test('of one domain that is slow delays no mail of another', async () => {
    const reminder = await readReminder();
    const ben = await signUp(server, 'ben');
    await server.admin.query(
      "update auth.users set email_confirmed_at = now(), email = 'ben@slow.example' where id = $1",
      [ben.id],
    );
    const slow = await readReminder(ben, 'ben@slow.example');
    provider.answers.set('sandbox._domainkey.slow.example', 'silence');
    const from = 'ben@slow.example';
    const waiting = await Promise.all(
      Array.from({ length: 8 }, (_, index) => provider.sign(reply(slow, `${index}`, 'Gmail', from), 'slow.example')),
    );
    let ended = 0;
    const sent = waiting.map((mail) =>
      deliverAsPostmark(webhook(), PASSWORD, mail, { from, to: slow.replyTo }).finally(() => (ended += 1)),
    );
    const raw = await provider.sign(reply(reminder, 'One'), 'example.com');
    expect((await deliverAsPostmark(webhook(), PASSWORD, raw, { from: ANA, to: reminder.replyTo })).status).toBe(200);
    expect(ended).toBe(0);
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(waiting.map(() => 503));
  });
});

/** Nests the body of a mail in `depth` parts. */
function nest(mail: string, depth: number): string {
  const [head] = mail.split('\r\n\r\n');
  const opened = Array.from(
    { length: depth },
    (_, index) => `--b${index}\r\nContent-Type: multipart/mixed; boundary="b${index + 1}"\r\n\r\n`,
  ).join('');
  return `${head!.replace(/boundary=".*"/, 'boundary="b0"')}\r\n\r\n${opened}--b${depth}\r\n\r\nOne\r\n--b${depth}--\r\n`;
}

describe('a mail of the user that cannot be stored', () => {
  test.each([
    ['has no words of its own', '', 'There is no text to add.'],
    ['is too long', 'word '.repeat(4_000), 'Add 16,000 characters and 200 lines at most at once.'],
    ['has too many lines', 'word\n'.repeat(201), 'Add 16,000 characters and 200 lines at most at once.'],
  ])('is answered when it %s', async (_name, words, reason) => {
    const reminder = await readReminder();
    expect(await send(reply(reminder, words), reminder.replyTo)).toMatch(/^250/);
    await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.text).toContain('Nothing was added to your log of');
    expect(server.mailbox.messagesTo(ANA)[0]!.text).toContain(reason);
    expect(await readLog()).toEqual([]);
  });

  test('is answered when its day is locked', async () => {
    const reminder = await readReminder();
    await server.admin.query("update mail_tokens set day = day - 40 where purpose = 'reply'");
    await send(reply(reminder, 'One'), reminder.replyTo);
    await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.text).toContain('This day is locked.');
  });
});

test('a line of a header in the user’s words stays text', async () => {
  const reminder = await readReminder();
  await send(
    reply(reminder, 'Bcc: eve@stranger.example\n<script>alert(1)</script> & <b>bold</b>', 'Thunderbird'),
    reminder.replyTo,
  );
  expect(await readLog()).toEqual(['Bcc: eve@stranger.example\n<script>alert(1)</script> & <b>bold</b>']);
  await expect.poll(() => server.mailbox.messagesTo(ANA)[0]!.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(server.mailbox.messagesTo('eve@stranger.example')).toEqual([]);
});

test('a reply of Outlook, whose signature covers no recipient, is stored', async () => {
  const reminder = await readReminder();
  const headerList = 'From:Date:Subject:Message-ID:Content-Type:MIME-Version:X-MS-Exchange-SenderADCheck';
  const signed = await provider.sign(reply(reminder, 'One', 'Outlook for iOS'), 'example.com', { headerList });
  expect(await send(signed, reminder.replyTo, { signedBy: null })).toMatch(/^250/);
  expect(await readLog()).toEqual(['One']);
});

test('a reply without a signature is stored if SPF vouches for it', async () => {
  const reminder = await readReminder();
  provider.answers.set('example.com', ['v=spf1 ip4:127.0.0.1 -all']);
  expect(await send(reply(reminder, 'One'), reminder.replyTo, { signedBy: null })).toMatch(/^250/);
  provider.answers.set('example.com', ['v=spf1 -all']);
  await expect(send(reply(reminder, 'Two'), reminder.replyTo, { signedBy: null })).rejects.toThrow(/550/);
  provider.answers.clear();
  expect(await readLog()).toEqual(['One']);
});

test('a reply whose address was written in capitals finds its day', async () => {
  const reminder = await readReminder();
  const to = reminder.replyTo.toUpperCase();
  await send(reply({ ...reminder, replyTo: to }, 'One'), to);
  expect(await readLog()).toEqual(['One']);
});

test('the log of the server has no address, token or word of a mail', async () => {
  const reminder = await readReminder();
  await send(reply(reminder, 'A private line'), reminder.replyTo);
  await send(reply(reminder, 'A private line'), reminder.replyTo, { signedBy: null }).catch(() => undefined);
  const written = lines.join('');
  expect(written).toContain('"inbound":"stored"');
  for (const secret of ['private line', ANA, reminder.replyTo.slice(4, 56)]) expect(written).not.toContain(secret);
});
