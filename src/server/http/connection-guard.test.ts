import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createLimiters } from '../load/limiters.ts';
import { guardConnections, GuardedRequest } from './connection-guard.ts';

const MEGABYTE = 1024 * 1024;
const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** The path is the size of the response in megabytes; a PUT gets no response. `check` runs the periodic check. */
async function startServer(maxBufferedBytes: number) {
  let check = (): void => {};
  let now = 0;
  let answered = 0;
  let ended = 0;
  const held: IncomingMessage[] = [];
  const server = createServer({ IncomingMessage: GuardedRequest }, (incoming, outgoing) => {
    if (!guard.beginRequest(incoming, outgoing)) return;
    outgoing.once('close', () => {
      guard.endRequest(incoming, outgoing);
      ended += 1;
    });
    if (incoming.method === 'PUT') {
      held.push(incoming);
      return;
    }
    outgoing.end(Buffer.alloc(Number(incoming.url!.slice(1)) * MEGABYTE));
    answered += 1;
  });
  const unreadBytes = (): number => held.reduce((sum, incoming) => sum + incoming.readableLength, 0);
  const limiters = createLimiters();
  const guard = guardConnections(server, {
    limiters,
    isBehindProxy: false,
    maxBufferedBytes,
    now: () => now,
    schedule: (run) => ((check = run), () => (check = () => {})),
  });
  open.push(
    guard.stop,
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const request = (socket: Socket, megabytes: number, count = 1) =>
    socket.write(`GET /${megabytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count));
  return {
    limiters,
    unreadBytes,
    ended: () => ended,
    check: () => check(),
    advance: (ms: number) => void (now += ms),
    request,
    /** Sends `count` pipelined requests. Resolves when all responses are buffered in the server. */
    async requestWithoutReading(megabytes: number, count = 1): Promise<Socket> {
      const socket = connectTo(port);
      socket.pause();
      const expected = answered + count;
      request(socket, megabytes, count);
      await expect.poll(() => answered).toBe(expected);
      return socket;
    },
    connect: () => connectTo(port),
  };
}

function connectTo(port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  open.push(() => socket.destroy());
  return socket;
}

/** Reads until `megabytes` have arrived or the server closes the connection. Returns the megabytes read. */
async function read(socket: Socket, megabytes: number): Promise<number> {
  let bytes = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes >= megabytes * MEGABYTE) resolve();
  };
  socket.on('data', count).once('close', resolve).resume();
  await promise;
  socket.off('data', count).off('close', resolve);
  return bytes / MEGABYTE;
}

describe('a body in pieces of one byte', () => {
  test('is refused after 1,024 of them', async () => {
    const server = await startServer(40 * MEGABYTE);
    const socket = server.connect();
    const head = 'PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(head + '1\r\na\r\n'.repeat(1_000));
    await expect.poll(server.unreadBytes).toBe(1_000);
    socket.write('1\r\na\r\n'.repeat(100));
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 400 .*"code":"too_many_pieces"/s);
    expect(server.unreadBytes()).toBeLessThan(1_100);
  });

  test('ends the connection also after the response', async () => {
    const server = await startServer(40 * MEGABYTE);
    const socket = server.connect();
    socket.write('POST /0 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.resume();
    await expect.poll(server.ended).toBe(1);
    socket.write('1\r\na\r\n'.repeat(2_000));
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  test('passes in as many pieces of 64 bytes as it has', async () => {
    const server = await startServer(40 * MEGABYTE);
    const socket = server.connect();
    const pieces = `40\r\n${'a'.repeat(64)}\r\n`.repeat(1_000);
    socket.write(`PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${pieces}`);
    await expect.poll(server.unreadBytes).toBe(64_000);
  });
});

describe('unread responses', () => {
  test('drops the largest unread response first and keeps those within the limit', async () => {
    const server = await startServer(40 * MEGABYTE);
    const small = await server.requestWithoutReading(20);
    const large = await server.requestWithoutReading(60);
    server.check();
    expect(await read(large, 60)).toBeLessThan(60);
    expect(await read(small, 20)).toBeGreaterThanOrEqual(20);
  });

  test('does not disconnect a client that has read large responses', async () => {
    const server = await startServer(40 * MEGABYTE);
    const reader = server.connect();
    server.request(reader, 60);
    expect(await read(reader, 60)).toBeGreaterThanOrEqual(60);
    const stuck = await server.requestWithoutReading(60);
    server.check();
    expect(await read(stuck, 60)).toBeLessThan(60);
    server.request(reader, 60);
    expect(await read(reader, 60)).toBeGreaterThanOrEqual(60);
  });

  test('counts pipelined responses, which wait for the first one of their connection', async () => {
    const server = await startServer(40 * MEGABYTE);
    const single = await server.requestWithoutReading(20);
    const pipelined = await server.requestWithoutReading(10, 3);
    server.check();
    expect(await read(pipelined, 30)).toBeLessThan(30);
    expect(await read(single, 20)).toBeGreaterThanOrEqual(20);
  });

  test('keeps unread responses whose total is within the limit', async () => {
    const server = await startServer(40 * MEGABYTE);
    const waiting = [await server.requestWithoutReading(20), await server.requestWithoutReading(19)];
    server.check();
    expect(await read(waiting[0]!, 20)).toBeGreaterThanOrEqual(20);
    expect(await read(waiting[1]!, 19)).toBeGreaterThanOrEqual(19);
  });
});

/**
 * Answers each request once its whole body has arrived, `/held` when `answerHeld` is called, and begins to answer
 * `/stream`. `at` sets the clock and runs the periodic check.
 */
async function startGuarded(options: { maxConnections?: number; isBehindProxy?: boolean; isReading?: boolean } = {}) {
  let check = (): void => {};
  let now = 0;
  const limiters = createLimiters();
  const held: ServerResponse[] = [];
  let requests = 0;
  const { isReading = true, isBehindProxy = false, ...limits } = options;
  const server = createServer({ IncomingMessage: GuardedRequest, keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    requests += 1;
    if (!guard.beginRequest(incoming, outgoing)) return;
    outgoing.once('close', () => guard.endRequest(incoming, outgoing));
    if (incoming.url === '/stream') outgoing.write('begun');
    else if (incoming.url === '/held') held.push(outgoing);
    else if (isReading) incoming.resume().once('end', () => outgoing.end('done'));
  });
  const guard = guardConnections(server, {
    limiters,
    isBehindProxy,
    ...limits,
    now: () => now,
    schedule: (run) => ((check = run), () => (check = () => {})),
  });
  open.push(
    guard.stop,
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const bytesRead = async (): Promise<number> =>
    new Promise((resolve) => {
      server.getConnections(() => resolve([...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0)));
    });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  return {
    limiters,
    requests: () => requests,
    /** Answers the oldest request for `/held`. */
    answerHeld: () => held.shift()!.end('done'),
    connect: (localAddress?: string) => connectTo(port, localAddress),
    at(ms: number): void {
      now = ms;
      check();
    },
    /** Resolves when the server has received that many bytes in all. */
    received: (bytes: number) => expect.poll(bytesRead).toBeGreaterThanOrEqual(bytes),
  };
}

const isClosed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));
const post = (length: number) => `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

describe('a client that sends slowly', () => {
  test('is disconnected after the grace time if it trickles its body', async () => {
    const server = await startGuarded();
    const socket = server.connect();
    const closed = isClosed(socket);
    socket.write(post(100_000));
    await server.received(post(100_000).length);
    server.at(0);
    socket.write('x'.repeat(5_000));
    await server.received(post(100_000).length + 5_000);
    server.at(9_000);
    expect(socket.readyState).toBe('open');
    server.at(11_000);
    await closed;
    expect(server.limiters.states().counters.get('slow_clients')).toBe(1);
  });

  test('stays connected at the minimum rate, and is answered', async () => {
    const server = await startGuarded();
    const socket = server.connect();
    const head = post(60_000);
    socket.write(head);
    await server.received(head.length);
    server.at(0);
    for (let second = 10; second <= 50; second += 10) {
      socket.write('x'.repeat(12_000));
      await server.received(head.length + second * 1_200);
      server.at(second * 1_000);
    }
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('stays connected while it waits for the server to read its body', async () => {
    const server = await startGuarded({ isReading: false });
    const socket = server.connect();
    socket.write(post(4 * MEGABYTE) + 'x'.repeat(MEGABYTE));
    await server.received(64 * 1024);
    for (let second = 0; second <= 60; second += 5) server.at(second * 1_000);
    expect(server.limiters.states().counters.get('slow_clients')).toBe(0);
  });
});

test('a client that reads a response too slowly is disconnected', async () => {
  const server = await startServer(400 * MEGABYTE);
  const socket = await server.requestWithoutReading(20);
  const slowClients = () => server.limiters.states().counters.get('slow_clients');
  server.check();
  server.advance(29_000);
  server.check();
  expect(slowClients()).toBe(0);
  server.advance(2_000);
  server.check();
  expect(slowClients()).toBe(1);
  expect(await read(socket, 20)).toBeLessThan(20);
});

test('a connection with too many unanswered requests is closed, and the requests behind them are dropped', async () => {
  const server = await startGuarded({ isReading: false });
  const [polite, flooding] = [server.connect(), server.connect()];
  const closed = isClosed(flooding);
  polite.write(post(1).repeat(1));
  flooding.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000));
  await closed;
  expect(server.requests()).toBe(18);
  expect(polite.readyState).toBe('open');
});

describe('the number of connections', () => {
  const connectAll = async (server: Awaited<ReturnType<typeof startGuarded>>, count: number) => {
    const sockets = Array.from({ length: count }, () => server.connect());
    return Promise.all(
      sockets.map(async (socket) => {
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
        return Promise.race([
          new Promise((resolve) => socket.once('data', () => resolve('answered'))),
          isClosed(socket).then(() => 'closed'),
        ]);
      }),
    );
  };

  test('of one address is half of all at most', async () => {
    const server = await startGuarded({ maxConnections: 8 });
    const outcomes = await connectAll(server, 10);
    expect(outcomes.filter((outcome) => outcome === 'answered')).toHaveLength(4);
    expect(server.limiters.states().quotas.get('connections')).toEqual({ taken: 4, refused: 6, displaced: 0 });
  });

  test('of a proxy is limited only in all', async () => {
    const server = await startGuarded({ maxConnections: 20, isBehindProxy: true });
    const outcomes = await connectAll(server, 24);
    expect(outcomes.filter((outcome) => outcome === 'answered')).toHaveLength(20);
  });

  test('above a tenth is reclaimed for other addresses, idle ones first, but not while a request is processed', async () => {
    const server = await startGuarded({ maxConnections: 20 });
    let sent = 0;
    const closed: string[] = [];
    const openConnection = (name: string, localAddress: string, text: string): Socket => {
      const socket = server
        .connect(localAddress)
        .resume()
        .once('close', () => closed.push(name));
      socket.write(text);
      sent += text.length;
      return socket;
    };
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const answered = [get('/'), get('/stream')];
    const openInTurn = async (name: string, localAddress: string, text: string): Promise<Socket> => {
      const socket = openConnection(name, localAddress, text);
      if (answered.includes(text)) await Promise.race([once(socket, 'data'), isClosed(socket)]);
      else await server.received(sent);
      return socket;
    };
    await openInTurn('pipelining', '127.0.0.2', get('/held').repeat(2));
    const heldSockets = [];
    for (const name of ['held 1', 'held 2']) heldSockets.push(await openInTurn(name, '127.0.0.2', get('/held')));
    for (const name of ['stream 1', 'stream 2']) await openInTurn(name, '127.0.0.2', get('/stream'));
    await openInTurn('body', '127.0.0.2', post(10));
    for (const name of ['idle 1', 'idle 2', 'idle 3']) await openInTurn(name, '127.0.0.2', get('/'));
    await openInTurn('headers', '127.0.0.2', 'GET / HTTP/1.1\r\n');
    for (let index = 0; index < 10; index += 1) await openInTurn('other', `127.0.1.${(index % 5) + 1}`, get('/'));
    for (let index = 0; index < 7; index += 1) await openInTurn('other', `127.0.2.${(index % 4) + 1}`, get('/'));
    await expect.poll(() => closed).toEqual(['idle 1', 'idle 2', 'idle 3', 'headers', 'stream 1', 'stream 2', 'body']);
    await isClosed(openConnection('refused', '127.0.2.4', get('/')));
    expect(closed).toHaveLength(8);
    expect(server.limiters.states().quotas.get('connections')).toEqual({ taken: 20, refused: 1, displaced: 7 });

    server.answerHeld();
    await expect.poll(() => closed.slice(8)).toEqual(['pipelining']);
    await openInTurn('other', '127.0.2.4', get('/'));
    // The second request of the closed connection.
    server.answerHeld();
    for (const socket of heldSockets) {
      server.answerHeld();
      await once(socket, 'data');
    }
    await isClosed(openConnection('refused', '127.0.2.5', get('/')));
    expect(closed.slice(9)).toEqual(['refused']);
  });

  test('no longer counts closed connections', async () => {
    const server = await startGuarded({ maxConnections: 4 });
    const first = server.connect();
    await once(first, 'connect');
    first.destroy();
    await expect.poll(() => server.limiters.states().quotas.get('connections')!.taken).toBe(0);
    expect(await connectAll(server, 2)).toEqual(['answered', 'answered']);
  });
});
