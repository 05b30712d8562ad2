/** Writes to each database machine directly, without HAProxy and PgBouncer, to learn when each of them accepts writes. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectToNode, NODES, type Node } from './nodes.ts';
import type { Answer } from './outage.ts';

const PACE_MS = 50;
const TIMEOUT_MS = 1_000;
const DATABASE = 'postgres';

export type Prober = {
  /** The commits that a machine has acknowledged. */
  readonly writes: readonly (Answer & { node: Node })[];
  stop(): Promise<void>;
};

export async function startProber(primary: Node): Promise<Prober> {
  const setUp = await connectToNode(primary, DATABASE);
  await setUp.query('create table if not exists probes (at timestamptz not null)');
  await setUp.end();
  const writes: (Answer & { node: Node })[] = [];
  let isStopped = false;

  async function probe(client: pg.Client, node: Node): Promise<void> {
    while (!isStopped) {
      const sentAt = Date.now();
      const { rows } = await within(client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby'));
      if (!rows[0]!.standby) {
        await within(client.query('insert into probes values (now())'));
        writes.push({ node, sentAt, answeredAt: Date.now() });
      }
      await delay(PACE_MS);
    }
  }

  async function follow(node: Node): Promise<void> {
    while (!isStopped) {
      let client: pg.Client | null = null;
      try {
        client = await connectToNode(node, DATABASE, TIMEOUT_MS);
        await probe(client, node);
      } catch {
        await delay(PACE_MS);
      } finally {
        // Closes the socket at once: `end` would wait for a machine that may be out of reach.
        (client as unknown as { connection?: { stream: { destroy(): void } } } | null)?.connection?.stream.destroy();
      }
    }
  }

  const following = NODES.map(follow);
  return {
    writes,
    async stop() {
      isStopped = true;
      await Promise.all(following);
    },
  };
}

const within = <T>(promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    delay(TIMEOUT_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer'))),
  ]);
