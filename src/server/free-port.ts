/** A loopback port that nothing listens on, for whom an address must be known before it is listened at. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that a system gives out by itself (Linux from 32768, others from 49152): one of them could go to a
 * connection, or to somebody who asks for any, before it is listened at.
 */
const PORTS = { from: 20_000, to: 30_000 };
const TRIES = 50;

export async function freePort(): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch (error) {
      if (tried === TRIES) throw error;
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
