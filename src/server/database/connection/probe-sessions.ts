/**
 * Finds out by trying how an address treats the sessions of its clients. The version of the pooler does not tell:
 * PgBouncer's setting `max_prepared_statements` decides, and there are other poolers.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

/**
 * - `session`: each connection has a session of its own, as without a pooler
 * - `tracked`: transactions share sessions, and the pooler prepares each client's statements wherever they run
 * - `mixed`: transactions share sessions with the prepared statements that other clients left there
 * - `unknown`: none of these could be proven
 * - `statement`: no transactions
 */
export type Sessions = 'session' | 'tracked' | 'mixed' | 'unknown' | 'statement';

/**
 * Three, so that a client meets a session that another client has used. If the pooler has two sessions, two clients
 * share one. If it has more, it hands out the one that became idle first or last, and `probe` gives the next turn to the
 * client that has used neither.
 */
const CLIENTS = 3;
const ROUNDS = 3;
/** Bounds the probe, because a pooler without a free session lets a client wait. */
const TIMEOUT_MS = 10_000;
/** "Transaction blocks not allowed in statement pooling mode" of PgBouncer has the code of a protocol violation. */
const STATEMENT_MODE = /statement pooling/i;
/** SQLSTATEs: the prepared statement exists already, or does not exist. */
const MIXED_CODES: ReadonlySet<string> = new Set(['42P05', '26000']);

/** @param connect opens another connection to the address. @throws the error of `connect` */
export async function probeSessions(connect: () => Promise<pg.Client>): Promise<Sessions> {
  const clients: pg.Client[] = [];
  try {
    for (let index = 0; index < CLIENTS; index += 1) clients.push(await connect());
    return await Promise.race([probe(clients), delay(TIMEOUT_MS, 'unknown' as const, { ref: false })]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (MIXED_CODES.has(error.code ?? '')) return 'mixed';
    if (STATEMENT_MODE.test(error.message)) return 'statement';
    throw error;
  } finally {
    // `end` waits for the server, but closes a client at once that still waits for a session.
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Every client prepares another text under one name, then uses it in sessions that the others have used. */
async function probe(clients: readonly pg.Client[]): Promise<Sessions> {
  const name = `probe_${randomBytes(8).toString('hex')}`;
  const preparedIn = new Map<number, number>();

  async function runPreparedStatement(index: number): Promise<Sessions | null> {
    const { rows } = await clients[index]!.query<{ session: number; client: number }>({
      name,
      text: `select pg_backend_pid() as session, ${index} as client`,
    });
    const { session, client } = rows[0]!;
    if (client !== index) return 'mixed';
    const preparedSession = preparedIn.get(index);
    if (preparedSession !== undefined && preparedSession !== session) return 'tracked';
    if (preparedSession === undefined && [...preparedIn.values()].includes(session)) return 'tracked';
    preparedIn.set(index, session);
    return null;
  }

  await clients[0]!.query('begin');
  await clients[0]!.query('commit');
  // An idle pooler usually gives the same session to one client after another, so this loop finds most shared sessions.
  for (let index = 0; index < clients.length; index += 1) {
    const found = await runPreparedStatement(index);
    if (found) return found;
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    // All at once in a transaction, so that each has a session of its own. The next round begins with the client in the
    // middle: its session is neither the first nor the last that became idle.
    for (const index of [1, 0, 2]) {
      await clients[index]!.query('begin');
      const found = await runPreparedStatement(index);
      if (found) return found;
    }
    for (const client of clients) await client.query('commit');
  }
  return 'session';
}
