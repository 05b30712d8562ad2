/** Tests which mails the SMTP port refuses before or while they are sent (docs/specification/limits.md 8). */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { InboundMail, Outcome } from '#server/inbound/inbound.ts';
import { listenForMail, type SmtpListener } from '#server/inbound/smtp-listener.ts';
import { createLog } from '#server/log.ts';

const TO = 'log+token@reply.example.org';

let listener: SmtpListener;
let received: InboundMail[];
let outcome: Outcome;
const open = new Set<Socket>();

const listen = (certificate: { certFile: string; keyFile: string } | null): Promise<SmtpListener> =>
  listenForMail({
    settings: { host: '127.0.0.1', port: 0, certificate },
    domain: 'reply.example.org',
    log: createLog('silent'),
    inbound: {
      isKnownAddress: async (address) => address === TO,
      receive: async (mail) => (received.push(mail), outcome),
    },
  });

beforeEach(async () => {
  received = [];
  outcome = 'stored';
  listener = await listen(null);
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open.clear();
  await listener.close();
});

/** A client that sends a line and reads the last line of the reply; null once the server has hung up. */
function talk(socket: Socket) {
  open.add(socket);
  socket.on('error', () => undefined);
  const lines: Interface = createInterface({ input: socket });
  const replies = lines[Symbol.asyncIterator]();
  const read = async (): Promise<string | null> => {
    for (let next = await replies.next(); !next.done; next = await replies.next()) {
      if (/^\d{3} /.test(next.value)) return next.value;
    }
    return null;
  };
  const say = (line: string): Promise<string | null> => (socket.write(`${line}\r\n`), read());
  return { socket, read, say };
}

async function dial() {
  const client = talk(connect(listener.port, '127.0.0.1'));
  return { ...client, greeting: await client.read() };
}

const MAIL = `From: ana@example.com\r\nTo: ${TO}\r\n\r\nOne\r\n.`;
async function dialWithRecipient(parameters = '') {
  const client = await dial();
  await client.say('EHLO mail.example.com');
  await client.say(`MAIL FROM:<ana@example.com>${parameters}`);
  await client.say(`RCPT TO:<${TO}>`);
  return client;
}

test('takes a mail and says where it came from', async () => {
  const client = await dialWithRecipient();
  expect(await client.say('DATA')).toMatch(/^354/);
  expect(await client.say(MAIL)).toMatch(/^250/);
  expect(received).toMatchObject([
    { recipients: [TO], arrival: { ip: '127.0.0.1', helo: 'mail.example.com', mailFrom: 'ana@example.com' } },
  ]);
});

test.each<[Outcome, RegExp]>([
  ['told', /^250/],
  ['repeated', /^250/],
  ['refused', /^550/],
  ['later', /^451/],
])('answers %s with %s', async (result, reply) => {
  outcome = result;
  const client = await dialWithRecipient();
  await client.say('DATA');
  expect(await client.say(MAIL)).toMatch(reply);
});

describe('refuses', () => {
  test('a mail without a sender, a foreign recipient, and a login', async () => {
    const client = await dial();
    await client.say('EHLO mail.example.com');
    expect(await client.say('AUTH PLAIN AGEAYg==')).toMatch(/^5/);
    expect(await client.say('MAIL FROM:<>')).toMatch(/^550/);
    expect(await client.say('MAIL FROM:<ana@example.com>')).toMatch(/^250/);
    expect(await client.say('RCPT TO:<eve@stranger.example>')).toMatch(/^550/);
    expect(await client.say('DATA')).toMatch(/^503/);
  });

  test('a client that guesses addresses', async () => {
    const client = await dial();
    await client.say('EHLO mail.example.com');
    await client.say('MAIL FROM:<ana@example.com>');
    for (let count = 0; count < 5; count += 1) await client.say(`RCPT TO:<log+${count}@reply.example.org>`);
    expect(await client.say('NOOP')).toBeNull();
  });

  test('ten megabytes that are announced, before they are sent', async () => {
    const client = await dial();
    await client.say('EHLO mail.example.com');
    expect(await client.say('MAIL FROM:<ana@example.com> SIZE=10485760')).toMatch(/^552/);
  });

  test('two megabytes that are not announced, without keeping them', async () => {
    const client = await dialWithRecipient();
    await client.say('DATA');
    client.socket.write(`${'a'.repeat(998)}\r\n`.repeat(2_100));
    expect(await client.say('.')).toMatch(/^552/);
    expect(received).toEqual([]);
  });

  test('a client that never ends a mail', async () => {
    const client = await dialWithRecipient();
    await client.say('DATA');
    const closed = once(client.socket, 'close');
    const piece = `${'a'.repeat(998)}\r\n`.repeat(100);
    const sending = setInterval(() => client.socket.write(piece), 1);
    await closed;
    clearInterval(sending);
    expect(received).toEqual([]);
  });

  test('the eleventh connection of a network', async () => {
    for (let count = 0; count < 10; count += 1) expect((await dial()).greeting).toMatch(/^220/);
    expect((await dial()).greeting).toMatch(/^421/);
  });

  test('more mails of a network than 120 in a minute', async () => {
    const client = await dial();
    await client.say('EHLO mail.example.com');
    for (let count = 0; count < 120; count += 1) {
      expect(await client.say('MAIL FROM:<ana@example.com>')).toMatch(/^250/);
      await client.say('RSET');
    }
    expect(await client.say('MAIL FROM:<ana@example.com>')).toMatch(/^451/);
  });
});

describe('with a certificate', () => {
  let folder: string;
  let pem: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'smtp-certificate-'));
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=reply.example.org',
      keys,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'reply.example.org' }])],
    });
    pem = certificate.toString('pem');
    const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    await writeFile(join(folder, 'cert.pem'), pem);
    await writeFile(join(folder, 'key.pem'), `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`);
  });
  afterAll(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    await listener.close();
    listener = await listen({ certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') });
  });

  /** @param behind what the client sends with STARTTLS, before it is encrypted */
  async function dialEncrypted(behind = '') {
    const plain = await dial();
    await plain.say('EHLO mail.example.com');
    expect(await plain.say(`STARTTLS${behind}`)).toMatch(/^220/);
    plain.socket.removeAllListeners('data');
    const socket = connectTls({ socket: plain.socket, ca: pem, servername: 'reply.example.org' });
    await once(socket, 'secureConnect');
    return talk(socket);
  }

  test('takes a mail by STARTTLS', async () => {
    const client = await dialEncrypted();
    expect(await client.say('EHLO mail.example.com')).not.toMatch(/STARTTLS/);
    await client.say('MAIL FROM:<ana@example.com>');
    await client.say(`RCPT TO:<${TO}>`);
    await client.say('DATA');
    expect(await client.say(MAIL)).toMatch(/^250/);
    expect(received).toMatchObject([{ recipients: [TO], arrival: { ip: '127.0.0.1', helo: 'mail.example.com' } }]);
  });

  test('forgets what came in plain text, also right behind STARTTLS', async () => {
    const client = await dialEncrypted(`\r\nMAIL FROM:<eve@stranger.example>\r\nRCPT TO:<${TO}>`);
    expect(await client.say('DATA')).toMatch(/^503/);
    await client.say('EHLO mail.example.com');
    expect(await client.say(`RCPT TO:<${TO}>`)).toMatch(/^503/);
    expect(received).toEqual([]);
  });

  test('hangs up on a client that guesses addresses', async () => {
    const client = await dialEncrypted();
    await client.say('EHLO mail.example.com');
    await client.say('MAIL FROM:<ana@example.com>');
    for (let count = 0; count < 5; count += 1) await client.say(`RCPT TO:<log+${count}@reply.example.org>`);
    expect(await client.say('NOOP')).toBeNull();
  });

  test('goes on after a client that speaks no TLS', async () => {
    const client = await dial();
    await client.say('EHLO mail.example.com');
    await client.say('STARTTLS');
    const closed = once(client.socket, 'close');
    client.socket.write('QUIT\r\n'.repeat(10));
    await closed;
    expect((await dial()).greeting).toMatch(/^220/);
  });

  test('takes a mail in plain text too, as every public mail server does', async () => {
    const client = await dialWithRecipient();
    await client.say('DATA');
    expect(await client.say(MAIL)).toMatch(/^250/);
  });
});

test('without a certificate STARTTLS is refused', async () => {
  const client = await dial();
  await client.say('EHLO mail.example.com');
  expect(await client.say('STARTTLS')).toMatch(/^5/);
});
