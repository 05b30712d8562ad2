import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { disconnectSlowReaders } from './slow-readers.ts';

const MEGABYTE = 1024 * 1024;
const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** Responds with as many megabytes as the path says; `check` runs the periodic check. */
async function startServer(maxBufferedBytes: number) {
  let check = (): void => {};
  const server = createServer((incoming, outgoing) => {
    outgoing.end(Buffer.alloc(Number(incoming.url!.slice(1)) * MEGABYTE));
  });
  const stop = disconnectSlowReaders(server, {
    maxBufferedBytes,
    schedule: (run) => ((check = run), () => (check = () => {})),
  });
  open.push(
    stop,
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const request = (socket: Socket, megabytes: number) =>
    socket.write(`GET /${megabytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return {
    check: () => check(),
    request,
    /** Resolves when the whole response is buffered in the server. */
    async requestWithoutReading(megabytes: number): Promise<Socket> {
      const socket = connectTo(port);
      socket.pause();
      request(socket, megabytes);
      await once(server, 'request');
      return socket;
    },
    connect: () => connectTo(port),
  };
}

function connectTo(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
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

test('keeps unread responses whose total is within the limit', async () => {
  const server = await startServer(40 * MEGABYTE);
  const waiting = [await server.requestWithoutReading(20), await server.requestWithoutReading(19)];
  server.check();
  expect(await read(waiting[0]!, 20)).toBeGreaterThanOrEqual(20);
  expect(await read(waiting[1]!, 19)).toBeGreaterThanOrEqual(19);
});
