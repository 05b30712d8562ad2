/** The sandbox's mailbox, as JSON and as a page (docs/specification/sandbox-and-running.md 2). */
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startMailbox, type Mailbox } from '../../../../simulators/mailbox.ts';

const HERE = 'http://127.0.0.1/sandbox/mail';

let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await startMailbox();
});
afterAll(() => mailbox.close());
beforeEach(async () => {
  await mailbox.handle(new Request(`${HERE}/messages`, { method: 'DELETE' }));
});

async function deliver(to: string, subject: string, text: string): Promise<void> {
  const transport = createTransport({ url: mailbox.smtpUrl });
  await transport.sendMail({ from: 'journal@example.com', to, subject, text, html: '<p>Words</p>' });
  transport.close();
}

const json = async (query = ''): Promise<unknown> =>
  (await mailbox.handle(new Request(`${HERE}/messages${query}`)))!.json();

test('returns messages newest first with links and code, for one address or for all', async () => {
  await deliver(
    'Ada@example.com',
    'First',
    'Follow https://journal.example.com/login?token_hash=ab-123456&type=signup\n\n042117\n',
  );
  await deliver('ada@example.com', 'Second', 'No link, and 123456 inside a line.\n');
  await deliver('bob@example.com', 'Third', 'Words.\n');
  expect(await json('?to=ada@example.com')).toEqual([
    expect.objectContaining({ to: 'ada@example.com', subject: 'Second', links: [], code: null }),
    {
      to: 'ada@example.com',
      subject: 'First',
      text: expect.stringContaining('Follow'),
      html: expect.stringContaining('<p>Words</p>'),
      at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*Z$/),
      links: ['https://journal.example.com/login?token_hash=ab-123456&type=signup'],
      code: '042117',
      headers: expect.objectContaining({ subject: 'First' }),
      messageId: expect.stringMatching(/^<.+>$/),
      replyTo: null,
    },
  ]);
  expect(await json()).toHaveLength(3);
});

test('escapes HTML on the page', async () => {
  await deliver(
    'a@example.com',
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>\nhttps://x.example/?a="onclick="b\n',
  );
  const page = await (await mailbox.handle(new Request(HERE)))!.text();
  expect(page).toContain('&lt;script&gt;');
  expect(page).not.toMatch(/<script|<img|"onclick=|style=/);
  expect(page).toContain('<a href="https://x.example/?a="');
});

test('shows an empty state, and ignores requests for other paths', async () => {
  expect(await (await mailbox.handle(new Request(HERE)))!.text()).toContain('No mail yet');
  expect(await mailbox.handle(new Request('http://127.0.0.1/sandbox/payments'))).toBeNull();
});
