/**
 * Bounds the memory of answers that nobody takes.
 *
 * Threat: a client asks for a whole journal again and again and reads none of it. An answer waits in our memory until it
 * is read, so a few small requests would end the process. Past the limit the largest of what waits is thrown away.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
const CHECK_INTERVAL_MS = 1_000;

type Options = {
  maxBufferedBytes?: number;
  /** Calls again and again until it is told to stop. */
  every?: (check: () => void) => () => void;
};

/** Answers how to stop. */
export function disconnectSlowReaders(
  server: Server,
  { maxBufferedBytes = MAX_BUFFERED_BYTES, every = checkEverySecond }: Options = {},
): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return every(() => {
    let sum = 0;
    for (const socket of sockets) sum += socket.writableLength;
    if (sum <= maxBufferedBytes) return;
    for (const socket of [...sockets].sort((a, b) => b.writableLength - a.writableLength)) {
      if (sum <= maxBufferedBytes) return;
      sum -= socket.writableLength;
      socket.destroy();
    }
  });
}

function checkEverySecond(check: () => void): () => void {
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
