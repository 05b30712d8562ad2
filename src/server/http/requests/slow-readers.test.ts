import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { disconnectSlowReaders } from './slow-readers.ts';

const MEGABYTE = 1024 * 1024;
const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** Answers with as many megabytes as the address says; `check` is what happens every second. */
async function startServer(maxBufferedBytes: number) {
  let check = (): void => {};
  const server = createServer((incoming, outgoing) => {
    outgoing.end(Buffer.alloc(Number(incoming.url!.slice(1)) * MEGABYTE));
  });
  const stop = disconnectSlowReaders(server, {
    maxBufferedBytes,
    every: (run) => ((check = run), () => (check = () => {})),
  });
  open.push(
    stop,
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = (socket: Socket, megabytes: number) =>
    socket.write(`GET /${megabytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return {
    check: () => check(),
    ask,
    /** Resolves when the whole answer waits in the server. */
    async askAndNeverRead(megabytes: number): Promise<Socket> {
      const socket = connectTo(port);
      socket.pause();
      ask(socket, megabytes);
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

/** Reads until so much has come or the server has cut the connection; answers the megabytes that came. */
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

test('the largest answer that nobody reads goes first, and what fits the limit stays', async () => {
  const server = await startServer(40 * MEGABYTE);
  const small = await server.askAndNeverRead(20);
  const large = await server.askAndNeverRead(60);
  server.check();
  expect(await read(large, 60)).toBeLessThan(60);
  expect(await read(small, 20)).toBeGreaterThanOrEqual(20);
});

test('whoever reads is left alone, however much it was', async () => {
  const server = await startServer(40 * MEGABYTE);
  const reader = server.connect();
  server.ask(reader, 60);
  expect(await read(reader, 60)).toBeGreaterThanOrEqual(60);
  const stuck = await server.askAndNeverRead(60);
  server.check();
  expect(await read(stuck, 60)).toBeLessThan(60);
  server.ask(reader, 60);
  expect(await read(reader, 60)).toBeGreaterThanOrEqual(60);
});

test('answers that fit the limit together may wait', async () => {
  const server = await startServer(40 * MEGABYTE);
  const waiting = [await server.askAndNeverRead(20), await server.askAndNeverRead(19)];
  server.check();
  expect(await read(waiting[0]!, 20)).toBeGreaterThanOrEqual(20);
  expect(await read(waiting[1]!, 19)).toBeGreaterThanOrEqual(19);
});
