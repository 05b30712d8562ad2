import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { startMailbox, type Mailbox } from '../../../simulators/mailbox.ts';
import { createMailer, MailDeferred, MailRejected, type Mailer } from './mailer.ts';

let mailbox: Mailbox;
let mailer: Mailer;
let lines: string[];

beforeEach(async () => {
  mailbox = await startMailbox();
  lines = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const config = { smtpUrl: new Secret(mailbox.smtpUrl), from: 'Hustle Forge <journal@example.com>', tls: true };
  mailer = createMailer(config, log, { retryDelaysMs: [1, 1] });
});
afterEach(async () => {
  await mailer.close();
  await mailbox.close();
});

const message = (to: string, text = 'Words.\n') => ({ to, subject: 'Subject', text, html: '<p>Words.</p>' });

describe('the mailer', () => {
  test('returns immediately and delivers before it closes', async () => {
    mailer.send(message('a@example.com'));
    expect(mailbox.messagesTo('a@example.com')).toHaveLength(0);
    await mailer.close();
    expect(mailbox.messagesTo('a@example.com')).toMatchObject([
      { subject: 'Subject', html: expect.stringContaining('Words.') },
    ]);
  });

  test('retries after a 4xx reply, and not after a 5xx', async () => {
    mailbox.refuseNext(2, 451);
    mailer.send(message('later@example.com'));
    await expect.poll(() => mailbox.messagesTo('later@example.com')).toHaveLength(1);
    mailbox.refuseNext(1, 550);
    mailer.send(message('never@example.com'));
    await expect.poll(() => lines.some((line) => line.includes('"responseCode":550'))).toBe(true);
    await mailer.close();
    expect(mailbox.messagesTo('never@example.com')).toHaveLength(0);
  });

  test('says of a bulk mail without an answer that it may have arrived, and does not repeat it', async () => {
    let received = 0;
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _session, done) {
        stream.on('end', () => {
          received += 1;
          // The connection ends in place of an answer.
          server.connections.forEach((connection) => connection.close());
          done();
        });
        stream.resume();
      },
    });
    server.on('error', () => {});
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.server.address() as AddressInfo;
    const config = { smtpUrl: new Secret(`smtp://127.0.0.1:${port}`), from: 'journal@example.com', tls: true };
    const bulk = createMailer(config, createLog('silent'));
    onTestFinished(async () => {
      await bulk.close();
      await new Promise<void>((closed) => server.close(closed));
    });
    await expect(bulk.deliverBulk(message('a@example.com'))).rejects.toMatchObject({ mayHaveArrived: true });
    expect(received).toBe(1);
  });

  test('says of a bulk mail that was refused, or found no mail server, that it has not arrived', async () => {
    mailbox.refuseNext(1, 451);
    await expect(mailer.deliverBulk(message('a@example.com'))).rejects.toMatchObject({ mayHaveArrived: false });
    await mailbox.close();
    await expect(mailer.deliverBulk(message('a@example.com'))).rejects.toBeInstanceOf(MailDeferred);
    const config = { smtpUrl: new Secret('smtp://127.0.0.1:1'), from: 'journal@example.com', tls: true };
    const away = createMailer(config, createLog('silent'));
    await expect(away.deliverBulk(message('a@example.com'))).rejects.toMatchObject({ mayHaveArrived: false });
    await away.close();
    mailbox = await startMailbox();
  });

  test('logs neither addresses nor text', async () => {
    mailer.send(message('secret-name@example.com', 'secret words'));
    mailbox.refuseNext(1, 550);
    mailer.send(message('secret-name@example.com', 'secret words'));
    await mailer.close();
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(lines.join('')).not.toMatch(/secret/);
  });

  test('is not fooled by SMTP end-of-data marks in the text', async () => {
    const smuggled = [
      'before',
      '.',
      'MAIL FROM:<x@example.com>',
      'RCPT TO:<victim@example.com>',
      'DATA',
      'gotcha',
      '.',
      '',
    ];
    for (const [index, lineEnd] of ['\r\n', '\n', '\r'].entries()) {
      mailer.send(message(`reader-${index}@example.com`, smuggled.join(lineEnd)));
    }
    await mailer.close();
    expect(mailbox.messagesTo('victim@example.com')).toHaveLength(0);
    expect([0, 1, 2].map((index) => mailbox.messagesTo(`reader-${index}@example.com`).length)).toEqual([1, 1, 1]);
  });

  test('rejects addresses and subjects that inject a recipient or a header', async () => {
    mailer.send(message('a@example.com>\r\nRCPT TO:<victim@example.com'));
    mailer.send(message('a@example.com, victim@example.com'));
    mailer.send({ ...message('b@example.com'), subject: 'Hello\r\nBcc: victim@example.com' });
    await mailer.close();
    expect(mailbox.messagesTo('victim@example.com')).toHaveLength(0);
  });

  test('runs prepared work after the current tick and survives its failure', async () => {
    const order: string[] = [];
    mailer.prepare(async () => {
      order.push('prepared');
      mailer.send(message('c@example.com'));
    });
    mailer.prepare(() => Promise.reject(new Error('no database')));
    order.push('answered');
    await mailer.close();
    expect(order).toEqual(['answered', 'prepared']);
    expect(mailbox.messagesTo('c@example.com')).toHaveLength(1);
  });

  test('delivers in one attempt and tells permanent from temporary failures', async () => {
    await mailer.deliver(message('now@example.com'));
    expect(mailbox.messagesTo('now@example.com')).toHaveLength(1);
    mailbox.refuseNext(1, 451);
    await expect(mailer.deliver(message('later@example.com'))).rejects.toBeInstanceOf(MailDeferred);
    mailbox.refuseNext(1, 550);
    await expect(mailer.deliver(message('never@example.com'))).rejects.toBeInstanceOf(MailRejected);
    const unreachable = { smtpUrl: new Secret('smtp://127.0.0.1:1'), from: 'x@example.com', tls: true };
    const failing = createMailer(unreachable, createLog('info', { write: (line: string) => void lines.push(line) }));
    await expect(failing.deliver(message('gone@example.com'))).rejects.toBeInstanceOf(MailDeferred);
    await failing.close();
    expect(lines.join('')).not.toMatch(/example|Words/);
  });

  test('sends to a server without encryption only if it may', async () => {
    const plain = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: (stream, _session, done) => void stream.resume().on('end', done),
    });
    plain.on('error', () => undefined);
    await new Promise<void>((listening) => plain.listen(0, '127.0.0.1', listening));
    onTestFinished(() => new Promise<void>((closed) => plain.close(closed)));
    // Another form of the address of this machine, which needs no encryption otherwise.
    const smtpUrl = new Secret(`smtp://[::ffff:127.0.0.1]:${(plain.server.address() as AddressInfo).port}`);
    const deliver = async (tls: boolean) => {
      const relaying = createMailer({ smtpUrl, from: 'x@example.com', tls }, createLog('silent'));
      try {
        await relaying.deliver(message('a@example.com'));
      } finally {
        await relaying.close();
      }
    };
    await expect(deliver(true)).rejects.toBeInstanceOf(MailDeferred);
    await deliver(false);
  });

  test('drops mail with a log line when SMTP_URL is not set', async () => {
    const silent = createMailer(
      { smtpUrl: null, from: 'x', tls: true },
      createLog('warn', { write: (line: string) => void lines.push(line) }),
    );
    silent.send(message('a@example.com'));
    await expect(silent.deliver(message('a@example.com'))).rejects.toBeInstanceOf(MailDeferred);
    await silent.close();
    expect(lines.join('')).toContain('SMTP_URL is not set');
  });
});
