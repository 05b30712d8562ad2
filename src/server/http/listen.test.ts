import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import { securityHeaders } from './security-headers.ts';

let listening: Listening | null = null;
afterEach(() => listening?.stop());

const start = async (answer: () => Response | Promise<Response>, env: Record<string, string> = {}): Promise<string> => {
  const headers = securityHeaders(readConfig(env));
  listening = await listen({ host: '127.0.0.1', port: 0, headers, fetch: () => answer() });
  return `http://127.0.0.1:${listening.port}`;
};

test('every answer carries the security headers, also one that a route made by hand', async () => {
  const { headers } = await fetch(await start(() => new Response('hello', { status: 404 })));
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test('an answer of the API is never taken for anything but what it says it is', async () => {
  const { headers } = await fetch(`${await start(() => new Response('{}'))}/rest/v1/entries`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

// Threat: an address that begins like the API and, once its dots are resolved, is answered with a page.
test.each(['/rest/v1/../../journal', '/auth/v1/%2e%2e/%2e%2e/journal', '/rest/v1/a\\..\\..\\..\\journal'])(
  'a page has its policy by whatever address it is asked for: %s',
  async (path) => {
    const { port } = new URL(await start(() => new Response('page')));
    const asked = request({ port, path });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  },
);

test.each([
  ['http://journal.example.com', null],
  ['https://journal.example.com', 'max-age=31536000; includeSubDomains'],
])('strict transport security for %s is %s', async (PUBLIC_URL, expected) => {
  const url = await start(() => new Response(), { PUBLIC_URL, SANDBOX: 'off' });
  expect((await fetch(url)).headers.get('strict-transport-security')).toBe(expected);
});

test('the API may live elsewhere, and only there', async () => {
  const url = await start(() => new Response(), { API_URL: 'https://project.example.com' });
  const policy = (await fetch(url)).headers.get('content-security-policy');
  expect(policy).toContain("connect-src 'self' https://project.example.com;");
});

test('a request under way is answered after the stop has begun, and its connection is not used again', async () => {
  const arrived = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<Response>();
  const url = await start(() => {
    arrived.resolve();
    return finish.promise;
  });
  const agent = new Agent({ keepAlive: true });
  const asked = request(url, { agent });
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
  asked.end();
  await arrived.promise;

  const stopped = listening!.stop();
  finish.resolve(new Response('saved'));
  const [answer] = await answered;
  expect(Buffer.concat(await answer.toArray()).toString()).toBe('saved');
  await stopped;
  await expect(fetch(url)).rejects.toThrow();
  agent.destroy();
});

test('an idle connection does not hold the stop up', async () => {
  const agent = new Agent({ keepAlive: true });
  const asked = request(await start(() => new Response('hello')), { agent });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  await answer.toArray();
  await listening!.stop();
  agent.destroy();
});

test('a port that is taken is said in words', async () => {
  await start(() => new Response());
  const taken = listening!.port;
  await expect(
    listen({ host: '127.0.0.1', port: taken, headers: { page: [], api: [] }, fetch: () => new Response() }),
  ).rejects.toThrow(`port ${taken} is taken: set PORT to another one`);
});

test.each(['no-such-host.invalid', '203.0.113.1'])('HOST=%s is refused with advice', async (host) => {
  await expect(listen({ host, port: 0, headers: { page: [], api: [] }, fetch: () => new Response() })).rejects.toThrow(
    `HOST=${host} is no address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or ::`,
  );
});

test('a client that stops taking its answer is cut, one that takes it for longer than that is not', async () => {
  const cut = Promise.withResolvers<void>();
  let isCut = false;
  /** Without end; that of the client who takes it ends once the other has been cut. */
  const answer = (asked: Request): Response =>
    new Response(
      new ReadableStream({
        async pull(stream) {
          // The event loop limiter between two pieces, so that the other connection is served as well.
          await setImmediate();
          if (isCut) stream.close();
          else stream.enqueue(new Uint8Array(64 * 1024));
        },
        cancel() {
          if (!asked.url.endsWith('/stuck')) return;
          isCut = true;
          cut.resolve();
        },
      }),
    );
  const headers = securityHeaders(readConfig({}));
  listening = await listen({ host: '127.0.0.1', port: 0, headers, fetch: answer, idleTimeoutMs: 500 });

  const stuck = connect(listening.port, '127.0.0.1').on('error', () => undefined);
  stuck.pause().write('GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const reader = await fetch(`http://127.0.0.1:${listening.port}/`);
  let pieces = 0;
  // Rejects when the server cuts this connection.
  for await (const piece of reader.body!) pieces += piece.length > 0 ? 1 : 0;
  await cut.promise;
  expect(pieces).toBeGreaterThan(0);
  stuck.destroy();
});
