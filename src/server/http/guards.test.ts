import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import type { AppEnv } from './app-env.ts';
import { readConfig } from '#server/config/config.ts';
import { canonicalHost, hostGuard } from './host-guard.ts';
import { clientAddress } from './client-address.ts';
import { limitBody, readText } from './limit-body.ts';

const guarded = new Hono<AppEnv>();
guarded.use(hostGuard({ publicUrl: 'http://forge.test:3000' }));
guarded.get('/', (context) => context.text('hello'));

test.each([
  ['localhost:3000', 200],
  ['127.0.0.1', 200],
  ['[::1]:3000', 200],
  ['forge.test:3000', 200],
  ['FORGE.test', 200],
  ['evil.example', 421],
  ['localhost.evil.example:3000', 421],
  ['127.0.0.1.evil.example', 421],
  ['', 421],
])('hostGuard responds to Host "%s" with %i', async (host, status) => {
  expect((await guarded.request('/', { headers: { host } })).status).toBe(status);
});

async function redirectOf(publicUrl: string, host: string, { path = '/journal?date=2026-11-02', listed = '' } = {}) {
  const app = new Hono<AppEnv>();
  const config = readConfig({ PUBLIC_URL: publicUrl, SANDBOX: 'off', AUTH_REDIRECT_URLS: listed });
  app.use(canonicalHost(config, (pagePath) => pagePath !== '/healthz'));
  app.all('*', (context) => context.text('here'));
  const answer = await app.request(`http://${host || 'localhost'}${path}`, {
    headers: { host, 'x-forwarded-host': 'evil.example' },
  });
  return answer.status === 200 ? 'here' : answer.headers.get('location');
}

test.each([
  ['http://localhost:3000', '127.0.0.1:3000', 'http://localhost:3000/journal?date=2026-11-02'],
  ['http://localhost:3000', '[::1]:3000', 'http://localhost:3000/journal?date=2026-11-02'],
  ['https://journal.example.com', 'www.example.com', 'https://journal.example.com/journal?date=2026-11-02'],
  ['https://journal.example.com', '203.0.113.5', 'https://journal.example.com/journal?date=2026-11-02'],
  ['https://journal.example.com', 'journal.example.com.', 'https://journal.example.com/journal?date=2026-11-02'],
  ['http://localhost:3000', 'LOCALHOST:3000', 'here'],
  ['http://localhost:8080', 'localhost', 'here'],
  ['https://journal.example.com', '127.0.0.1:3000', 'here'],
  ['https://journal.example.com', 'app:3000', 'here'],
  ['http://journal.lan', '127.0.0.1:3000', 'here'],
  ['http://localhost:3000', '', 'here'],
])('canonicalHost with PUBLIC_URL %s and Host "%s": %s', async (publicUrl, host, expected) => {
  expect(await redirectOf(publicUrl, host)).toBe(expected);
});

test('canonicalHost serves pages under a listed host and never redirects to another host', async () => {
  const listed = 'https://app.example/**,http://127.0.0.1:4100/**';
  const at = (host: string) => redirectOf('https://journal.example.com', host, { listed });
  expect(await at('app.example')).toBe('here');
  expect(await at('app.example.evil.example')).toBe('https://journal.example.com/journal?date=2026-11-02');
  const withApp = { listed: 'myapp://**,myapp://*' };
  expect(await redirectOf('https://journal.example.com', 'evil.example', withApp)).not.toBe('here');
  const local = (path: string) => redirectOf('http://localhost:3000', '127.0.0.1:3000', { path, listed });
  expect(await local('//evil.example/x')).toBe('http://localhost:3000//evil.example/x');
  expect(await local('/@evil.example')).toBe('http://localhost:3000/@evil.example');
  expect(await local('/healthz')).toBe('here');
});

const limited = new Hono<AppEnv>();
limited.use(limitBody(10));
limited.post('/', async (context) => context.text(await readText(context)));
limited.onError((error, context) => context.text(error.name, 413));

test('limitBody accepts a body at the limit', async () => {
  const answer = await limited.request('/', {
    method: 'POST',
    body: '0123456789',
    headers: { 'content-length': '10' },
  });
  expect(await answer.text()).toBe('0123456789');
});

test('limitBody rejects a larger body by its Content-Length', async () => {
  const answer = await limited.request('/', { method: 'POST', body: '0', headers: { 'content-length': '11' } });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([413, 'payload_too_large']);
});

test('readText rejects a larger body without Content-Length while reading', async () => {
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (let part = 0; part < 5; part += 1) stream.enqueue(new Uint8Array(5));
      stream.close();
    },
  });
  const init = { method: 'POST', body, duplex: 'half', headers: { 'transfer-encoding': 'chunked' } };
  const answer = await limited.request('/', init);
  expect([answer.status, await answer.text()]).toEqual([413, 'BodyTooLargeError']);
});

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Serves `limitBody` over HTTP. `bytesRead`: of all connections. */
async function serveLimited(maxBytes: number) {
  const app = new Hono<AppEnv>();
  app.use(limitBody(maxBytes));
  app.post('/', async (context) => context.text(String((await readText(context)).length)));
  app.onError((error, context) => context.text(error.name, 413));
  const server = createServer((incoming, outgoing) => void getRequestListener(app.fetch)(incoming, outgoing));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const sockets: Socket[] = [];
  server.on('connection', (socket) => void sockets.push(socket));
  const bytesRead = (): number => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
  return { port: (server.address() as AddressInfo).port, bytesRead };
}

test('readText copies a body that arrives byte by byte into one buffer', async () => {
  const LENGTH = 200_000;
  const { port, bytesRead } = await serveLimited(LENGTH);
  const socket = connect(port, '127.0.0.1');
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.write(head);
  await expect.poll(bytesRead).toBe(head.length);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let sent = 0; sent < LENGTH; sent += 10_000) socket.write('1\r\na\r\n'.repeat(10_000));
  await expect.poll(bytesRead).toBe(head.length + LENGTH * 6);
  collectGarbage();
  // With an object for each piece it is more than 20 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 1024 * 1024);
  socket.write('0\r\n\r\n');
  const [response] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(response.toString()).toMatch(new RegExp(`${LENGTH}$`));
});

test.each(['content-length', 'transfer-encoding'])(
  'readText gives the memory of a body back at once (%s)',
  async (name) => {
    const LENGTH = 1_000_000;
    const { port } = await serveLimited(LENGTH);
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const isChunked = name === 'transfer-encoding';
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${LENGTH}`}\r\n\r\n`;
    const body = Buffer.alloc(LENGTH, 'a');
    const chunked = [`${LENGTH.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'];
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let sent = 0; sent < 40; sent += 1) {
      for (const piece of [head, ...(isChunked ? chunked : [body])]) socket.write(piece);
      await once(socket, 'data');
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(2 * LENGTH);
  },
);

test.each(['content-length', 'transfer-encoding'])(
  'readText over HTTP reads bodies up to its limit (%s)',
  async (name) => {
    const { port } = await serveLimited(70_000);
    const send = async (length: number) => {
      const body = Buffer.alloc(length, 'a');
      const init = name === 'content-length' ? { body } : { body: new Blob([body]).stream(), duplex: 'half' };
      const answer = await fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        headers: { connection: 'close' },
        ...init,
      });
      return [answer.status, await answer.text()];
    };
    for (const length of [0, 1, 16_384, 16_385, 65_536, 70_000])
      expect(await send(length)).toEqual([200, String(length)]);
    expect((await send(70_001))[0]).toBe(413);
  },
);

const addressApp = (header: string | null) => {
  const app = new Hono<AppEnv>();
  app.get('/', (context) => context.text(clientAddress(context, { clientAddressHeader: header })));
  const socket = { remoteAddress: '::ffff:10.0.0.7' };
  return (headers: Record<string, string>) => app.request('/', { headers }, { incoming: { socket } });
};

test('clientAddress ignores a header that is not configured', async () => {
  expect(await (await addressApp(null)({ 'x-forwarded-for': '1.2.3.4' })).text()).toBe('10.0.0.7');
});

test('clientAddress uses the last entry of the configured header', async () => {
  expect(await (await addressApp('x-forwarded-for')({ 'x-forwarded-for': '6.6.6.6, 1.2.3.4' })).text()).toBe('1.2.3.4');
});

test.each([
  ['203.0.113.5:4711', '203.0.113.5'],
  ['[2001:db8::7]:4711', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['2001:db8::7', '2001:db8::7'],
  ['::ffff:203.0.113.5', '203.0.113.5'],
])('clientAddress reads %s of a proxy as %s', async (sent, address) => {
  expect(await (await addressApp('x-forwarded-for')({ 'x-forwarded-for': `6.6.6.6, ${sent}` })).text()).toBe(address);
});

test('clientAddress falls back to the socket address without the header', async () => {
  expect(await (await addressApp('x-forwarded-for')({})).text()).toBe('10.0.0.7');
});
