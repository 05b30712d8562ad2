import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { cutSlowReaders } from './slow-readers.ts';

const MEGABYTE = 1024 * 1024;
const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** Answers with as many megabytes as the address says. */
async function startServer(limitBytes: number): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    outgoing.end(Buffer.alloc(Number(incoming.url!.slice(1)) * MEGABYTE));
  });
  open.push(
    cutSlowReaders(server, limitBytes, 20),
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

function askAndNeverRead(port: number, megabytes: number): Socket {
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET /${megabytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  );
  socket.on('error', () => undefined);
  open.push(() => socket.destroy());
  return socket.pause();
}

test('the largest answer that nobody reads goes first, and what fits the limit stays', async () => {
  const port = await startServer(40 * MEGABYTE);
  const small = askAndNeverRead(port, 20);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const large = askAndNeverRead(port, 60);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const received = async (socket: Socket): Promise<number> => {
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    socket.resume();
    await Promise.race([once(socket, 'close'), new Promise((resolve) => setTimeout(resolve, 1_500))]);
    return bytes / MEGABYTE;
  };
  expect(await received(large)).toBeLessThan(60);
  expect(await received(small)).toBeGreaterThanOrEqual(20);
});
