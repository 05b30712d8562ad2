/** Finds a free loopback port, for callers that need the port before binding. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ephemeral ports (Linux from 32768, others from 49152): the system could assign one of those before the
 * caller binds it.
 */
const PORTS = { from: 20_000, to: 30_000 };
const MAX_TRIES = 50;

export async function freePort(): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch (error) {
      if (tried === MAX_TRIES) throw error;
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
