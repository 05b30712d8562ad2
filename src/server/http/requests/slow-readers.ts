/**
 * Bounds the memory of answers that nobody takes.
 *
 * Threat: a client asks for a whole journal again and again and reads none of it. An answer waits in our memory until it
 * is read, so a few small requests would end the process. Past the limit the largest of what waits is thrown away.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LIMIT_BYTES = 128 * 1024 * 1024;
const EVERY_MS = 1_000;

type Options = {
  limitBytes?: number;
  /** Calls again and again until it is told to stop. */
  every?: (look: () => void) => () => void;
};

/** Answers how to stop. */
export function cutSlowReaders(
  server: Server,
  { limitBytes = LIMIT_BYTES, every = everySecond }: Options = {},
): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return every(() => {
    let sum = 0;
    for (const socket of sockets) sum += socket.writableLength;
    if (sum <= limitBytes) return;
    for (const socket of [...sockets].sort((a, b) => b.writableLength - a.writableLength)) {
      if (sum <= limitBytes) return;
      sum -= socket.writableLength;
      socket.destroy();
    }
  });
}

function everySecond(look: () => void): () => void {
  const timer = setInterval(look, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
