import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { listen, type ListeningServer } from './listen.ts';
import { appPagePolicy, securityHeaders } from './security-headers.ts';

let listening: ListeningServer | null = null;
afterEach(() => listening?.stop());

const start = async (
  respond: () => Response | Promise<Response>,
  env: Record<string, string> = {},
  options: { drainIdleMs?: number; headersTimeoutMs?: number } = {},
): Promise<string> => {
  const headers = securityHeaders(readConfig(env));
  listening = await listen({ host: '127.0.0.1', port: 0, headers, fetch: () => respond(), ...options });
  return `http://127.0.0.1:${listening.port}`;
};

test('every response has the security headers, also a raw Response of a route', async () => {
  const { headers } = await fetch(await start(() => new Response('hello', { status: 404 })));
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test('requests that a client sends at once are answered in turn, and none after it has left', async () => {
  const answers: (() => void)[] = [];
  const url = await start(() => new Promise((resolve) => void answers.push(() => resolve(new Response('hello')))));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  const asks = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  socket.write(asks.repeat(3));
  for (let answered = 1; answered <= 2; answered += 1) {
    await expect.poll(() => answers.length).toBe(answered);
    answers.at(-1)!();
    await expect.poll(() => received.split('HTTP/1.1 200').length - 1).toBe(answered);
  }
  socket.write(asks.repeat(2));
  await expect.poll(() => answers.length).toBe(3);
  socket.destroy();
  const other = fetch(url);
  await expect.poll(() => answers.length).toBe(4);
  answers.at(-1)!();
  expect((await other).status).toBe(200);
  expect(answers).toHaveLength(4);
});

test('an API response has nosniff', async () => {
  const { headers } = await fetch(`${await start(() => new Response('{}'))}/rest/v1/entries`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

// Threat: a path that begins like the API, but resolves to a page once its dots are resolved.
test.each(['/rest/v1/../../journal', '/auth/v1/%2e%2e/%2e%2e/journal', '/rest/v1/a\\..\\..\\..\\journal'])(
  'a page has its policy under every spelling of its path: %s',
  async (path) => {
    const { port } = new URL(await start(() => new Response('page')));
    const outgoing = request({ port, path });
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  },
);

test.each([
  ['http://journal.example.com', null],
  ['https://journal.example.com', 'max-age=31536000; includeSubDomains'],
])('the Strict-Transport-Security header for %s is %s', async (PUBLIC_URL, expected) => {
  const url = await start(() => new Response(), { PUBLIC_URL, SANDBOX: 'off' });
  expect((await fetch(url)).headers.get('strict-transport-security')).toBe(expected);
});

test('connect-src allows only the configured API origin in addition to self', async () => {
  const url = await start(() => new Response(), { API_URL: 'https://project.example.com' });
  const policy = (await fetch(url)).headers.get('content-security-policy');
  expect(policy).toContain("connect-src 'self' https://project.example.com;");
});

test.each([
  [{}, { 'script-src': "'self'", 'style-src': "'self'", 'connect-src': "'self'", 'frame-src': undefined }],
  [
    { CAPTCHA_PROVIDER: 'turnstile' },
    {
      'script-src': "'self' https://challenges.cloudflare.com",
      'style-src': "'self'",
      'connect-src': "'self'",
      'frame-src': 'https://challenges.cloudflare.com',
    },
  ],
  [
    { CAPTCHA_PROVIDER: 'hcaptcha' },
    {
      'script-src': "'self' https://hcaptcha.com https://*.hcaptcha.com",
      'style-src': "'self' https://hcaptcha.com https://*.hcaptcha.com",
      'connect-src': "'self' https://hcaptcha.com https://*.hcaptcha.com",
      'frame-src': 'https://hcaptcha.com https://*.hcaptcha.com',
    },
  ],
  [
    { CAPTCHA_PROVIDER: 'turnstile', CAPTCHA_SCRIPT_URL: 'https://nothcaptcha.com/x.js' },
    {
      'script-src': "'self' https://nothcaptcha.com",
      'style-src': "'self'",
      'connect-src': "'self'",
      'frame-src': 'https://nothcaptcha.com',
    },
  ],
])('the policy with %o names only the sources of its captcha', (settings, expected) => {
  const keys = { CAPTCHA_SITE_KEY: 'site', CAPTCHA_SECRET: 'secret' };
  const policy = appPagePolicy(readConfig({ ...keys, ...settings }));
  const directives = new Map(policy.split('; ').map((text) => [text.split(' ')[0], text.replace(/^\S+ /, '')]));
  for (const [name, sources] of Object.entries(expected)) expect(directives.get(name)).toBe(sources);
  expect(policy).not.toContain('unsafe');
});

test.each([
  ['a first request', ''],
  ['a later request of a connection', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
])('%s whose headers arrive byte by byte is disconnected', async (_name, before) => {
  const url = new URL(await start(() => new Response('hello'), {}, { headersTimeoutMs: 50 }));
  const socket = connect(Number(url.port), url.hostname);
  // A write that meets the closed connection fails.
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  socket.resume().write(`${before}GET / HTTP/1.1\r\nX-Slow: `);
  const trickle = setInterval(() => socket.write('x'), 5);
  await closed;
  clearInterval(trickle);
});

test('stop lets a request in flight finish and does not reuse its connection', async () => {
  const arrived = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<Response>();
  const url = await start(() => {
    arrived.resolve();
    return finish.promise;
  });
  const agent = new Agent({ keepAlive: true });
  const outgoing = request(url, { agent });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.end();
  await arrived.promise;

  const stopped = listening!.stop();
  finish.resolve(new Response('saved'));
  const [answer] = await answered;
  expect(Buffer.concat(await answer.toArray()).toString()).toBe('saved');
  await stopped;
  await expect(fetch(url)).rejects.toThrow();
  agent.destroy();
});

test('stop does not wait for an idle connection', async () => {
  const agent = new Agent({ keepAlive: true });
  const outgoing = request(await start(() => new Response('hello')), { agent });
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  await answer.toArray();
  await listening!.stop();
  agent.destroy();
});

describe('drain', () => {
  const get = async (url: string, agent: Agent): Promise<IncomingMessage> => {
    const outgoing = request(url, { agent });
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    await answer.toArray();
    return answer;
  };

  test('answers the next request of an open connection, ends that connection, and takes no new one', async () => {
    const url = await start(() => new Response('hello'), {}, { drainIdleMs: 60_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await get(url, agent);
    const drained = listening!.drain();
    await expect(fetch(url)).rejects.toThrow();
    const last = await get(url, agent);
    expect([last.statusCode, last.headers.connection]).toEqual([200, 'close']);
    await drained;
    agent.destroy();
  });

  test('closes an idle connection after a while', async () => {
    const url = await start(() => new Response('hello'), {}, { drainIdleMs: 10 });
    const agent = new Agent({ keepAlive: true });
    await get(url, agent);
    await listening!.drain();
    agent.destroy();
  });

  test('ends sooner when the server stops meanwhile', async () => {
    const url = await start(() => new Response('hello'), {}, { drainIdleMs: 60_000 });
    const agent = new Agent({ keepAlive: true });
    await get(url, agent);
    const drained = listening!.drain();
    await listening!.stop();
    await drained;
    agent.destroy();
  });
});

test('rejects with advice when the port is taken', async () => {
  await start(() => new Response());
  const taken = listening!.port;
  await expect(
    listen({ host: '127.0.0.1', port: taken, headers: { page: [], api: [] }, fetch: () => new Response() }),
  ).rejects.toThrow(`port ${taken} is taken: set PORT to another one`);
});

test.each(['no-such-host.invalid', '203.0.113.1'])('rejects HOST=%s with advice', async (host) => {
  await expect(listen({ host, port: 0, headers: { page: [], api: [] }, fetch: () => new Response() })).rejects.toThrow(
    `HOST=${host} is not an address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or ::`,
  );
});

test('disconnects a client that stops reading its response, but not one that keeps reading', async () => {
  const disconnected = Promise.withResolvers<void>();
  let isDisconnected = false;
  /** Responds without end; the response of the reading client ends once the stuck client has been disconnected. */
  const respond = (incoming: Request): Response =>
    new Response(
      new ReadableStream({
        async pull(stream) {
          // Yields between two chunks, so that the other connection is served as well.
          await setImmediate();
          if (isDisconnected) stream.close();
          else stream.enqueue(new Uint8Array(64 * 1024));
        },
        cancel() {
          if (!incoming.url.endsWith('/stuck')) return;
          isDisconnected = true;
          disconnected.resolve();
        },
      }),
    );
  const headers = securityHeaders(readConfig({}));
  listening = await listen({ host: '127.0.0.1', port: 0, headers, fetch: respond, idleTimeoutMs: 500 });

  const stuck = connect(listening.port, '127.0.0.1').on('error', () => undefined);
  stuck.pause().write('GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const reader = await fetch(`http://127.0.0.1:${listening.port}/`);
  let chunks = 0;
  // Rejects if the server closes this connection.
  for await (const chunk of reader.body!) chunks += chunk.length > 0 ? 1 : 0;
  await disconnected.promise;
  expect(chunks).toBeGreaterThan(0);
  stuck.destroy();
});
