/**
 * Bounds the memory of buffered responses.
 *
 * Threat: slow-read attack. A client requests a whole journal repeatedly and never reads the responses. Responses are
 * buffered in memory until they are read, so a few small requests could exhaust the memory. While all buffers together
 * exceed the limit, the sockets with the largest buffers are destroyed.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
const CHECK_INTERVAL_MS = 1_000;

type Options = {
  maxBufferedBytes?: number;
  /** Calls `check` repeatedly and returns a function that stops the calls. */
  schedule?: (check: () => void) => () => void;
};

/** Returns a function that stops the checks. */
export function disconnectSlowReaders(
  server: Server,
  { maxBufferedBytes = MAX_BUFFERED_BYTES, schedule = checkEverySecond }: Options = {},
): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return schedule(() => {
    let buffered = 0;
    for (const socket of sockets) buffered += socket.writableLength;
    if (buffered <= maxBufferedBytes) return;
    for (const socket of [...sockets].sort((a, b) => b.writableLength - a.writableLength)) {
      if (buffered <= maxBufferedBytes) return;
      buffered -= socket.writableLength;
      socket.destroy();
    }
  });
}

function checkEverySecond(check: () => void): () => void {
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
