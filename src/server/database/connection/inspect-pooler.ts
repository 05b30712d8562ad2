/**
 * Checks the pooler of DATABASE_POOL_URL before requests go through it, and chooses how statements are sent. The
 * messages are for the operator (docs/operations/scaling.md).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import { REPORT_SQLSTATE } from '../changes/change-listener.ts';
import { RlsQuery, type StatementNames } from '../rls-query.ts';
import { valueTypes } from '../tables.ts';
import { REQUESTS_NAME } from './request-pool.ts';

const UNNAMED_ADVICE =
  'statements are sent unnamed, which is slower: use PgBouncer 1.21 or newer with max_prepared_statements = 200';
const IDENTITY_ROUNDS = 5;
const PIPELINE_TIMEOUT_MS = 2_000;

type Deps = {
  /** Opens a connection through the pooler, as the pool does. */
  connect: () => Promise<pg.Client>;
  /** A direct connection to the primary. */
  connectDirectly: () => Promise<pg.Client>;
  log: Logger;
};

/** How queries are sent: as named or unnamed statements, and pipelined or one by one. */
export type SendingMode = { names: StatementNames; canPipeline: boolean };

/** @throws Error for the operator if requests cannot go through this pooler or would be wrong. */
export async function inspectPooler({ connect, connectDirectly, log }: Deps): Promise<SendingMode> {
  const client = await connect().catch((cause: Error) => {
    const isUnreachable = 'syscall' in cause;
    throw new Error(
      isUnreachable
        ? `DATABASE_POOL_URL cannot be reached: ${cause.message}. Check its host and port, and whether the pooler runs`
        : `DATABASE_POOL_URL does not let the login of the requests in: ${cause.message}. ` +
            'The pooler needs its password or an auth_query',
      { cause },
    );
  });
  try {
    await rejectOtherDatabase(client, connectDirectly);
    await rejectLostReports(client);
    await warnWithoutTimeouts(client, log);
  } finally {
    await client.end().catch(() => undefined);
  }
  const sessions = await probeSessions(connect);
  if (sessions === 'statement')
    throw new Error('the pooler of DATABASE_POOL_URL allows no transactions: set pool_mode = transaction');
  const names = sessions === 'session' || sessions === 'tracked' ? 'named' : 'unnamed';
  if (names === 'unnamed') log.warn(`the pooler of DATABASE_POOL_URL mixes prepared statements: ${UNNAMED_ADVICE}`);
  await rejectSplitRequests(connect, names);
  const canPipeline = names === 'named' && (await keepsSessionOfPipeline(connect, connectDirectly, names));
  if (names === 'named' && !canPipeline)
    log.warn(
      'the pooler of DATABASE_POOL_URL gives a session away before all queries of its client are answered: ' +
        'queries are sent one by one, which is slower: use PgBouncer',
    );
  return { names, canPipeline };
}

/**
 * The start time of the server tells a database from a replica or a copy, which has the same oid. It is read as a
 * number, because its text depends on the time zone of the session.
 */
export const READ_IDENTITY = `
  select concat_ws(' ', oid, datname, extract(epoch from pg_postmaster_start_time())) as identity
    from pg_catalog.pg_database where datname = current_database()`;

async function rejectOtherDatabase(client: pg.Client, connectDirectly: () => Promise<pg.Client>): Promise<void> {
  const direct = await connectDirectly();
  try {
    const [pooled, primary] = await Promise.all(
      [client, direct].map((each) => each.query<{ identity: string }>(READ_IDENTITY)),
    );
    if (pooled!.rows[0]?.identity !== primary!.rows[0]?.identity)
      throw new Error('DATABASE_POOL_URL leads to another database or another server than DATABASE_URL');
  } finally {
    await direct.end();
  }
}

/**
 * Throws if the pooler withholds the reports of changes, which PostgreSQL sends as notices, or changes the application
 * name, without which the trigger sends none. Without them, pages would not learn of changes on other devices
 * (changes/change-announcer.ts).
 */
async function rejectLostReports(client: pg.Client): Promise<void> {
  const codes: unknown[] = [];
  client.on('notice', ({ code }) => codes.push(code));
  await client.query(`do $$ begin raise info using errcode = '${REPORT_SQLSTATE}', message = 'probe'; end $$`);
  const { rows } = await client.query<{ name: string }>("select current_setting('application_name') as name");
  if (rows[0]?.name !== REQUESTS_NAME)
    throw new Error(
      `the pooler of DATABASE_POOL_URL changes the application name to "${rows[0]?.name}": ` +
        'set application_name_add_host = 0',
    );
  if (!codes.includes(REPORT_SQLSTATE))
    throw new Error('the pooler of DATABASE_POOL_URL withholds notices of PostgreSQL, which announce changes');
}

/** The start of the server has given the role time-outs (roles.ts), but a pooler may hold older sessions without them. */
async function warnWithoutTimeouts(client: pg.Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_catalog.pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout') and setting = '0' order by name`,
  );
  if (rows.length === 0) return;
  const settings = rows.map(({ name }) => name);
  log.warn({ settings }, 'sessions of the pooler are without time-outs: run RECONNECT on its console');
}

/**
 * Threat: a pooler that sends the two halves of a request (settings and statement) to different sessions runs the
 * statement of one user with the rights of another. Concurrent requests with identities of their own test for this.
 */
async function rejectSplitRequests(connect: () => Promise<pg.Client>, names: StatementNames): Promise<void> {
  const clients = await Promise.all([connect(), connect(), connect()]);
  const types = valueTypes();
  const text = "select current_user::text as role, current_setting('request.jwt.claims') as claims";
  try {
    for (let round = 0; round < IDENTITY_ROUNDS; round += 1) {
      await Promise.all(
        clients.map(async (client) => {
          const claimsJson = JSON.stringify({ role: 'anon', probe: randomBytes(8).toString('hex') });
          const { rows } = await client.query(new RlsQuery({ role: 'anon', claimsJson }, text, [], types, names)).done;
          const [row] = rows as { role: string; claims: string }[];
          if (row?.role !== 'anon' || row.claims !== claimsJson)
            throw new Error('the pooler of DATABASE_POOL_URL splits requests: set pool_mode = transaction');
        }),
      );
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/**
 * Whether the pooler leaves a session with its client until all queries that it has sent are answered. The second query
 * waits for a lock until the first is answered. A pooler that does not count the queries in flight then gives the
 * session away, and the second answer is lost or goes to another client.
 *
 * @param connect opens a connection that pipelines
 */
export async function keepsSessionOfPipeline(
  connect: () => Promise<pg.Client>,
  connectDirectly: () => Promise<pg.Client>,
  names: StatementNames,
): Promise<boolean> {
  const [client, locker] = await Promise.all([connect(), connectDirectly()]);
  const types = valueTypes();
  const key = randomBytes(4).readInt32BE();
  const send = (text: string) =>
    client.query(new RlsQuery({ role: 'anon', claimsJson: '{}' }, text, [], types, names)).done;
  try {
    await send('select 1 as one');
    await locker.query('begin');
    await locker.query(`select pg_catalog.pg_advisory_xact_lock(${key})`);
    const first = send('select 1 as one').then(() => locker.query('rollback'));
    const second = send(`select pg_catalog.pg_advisory_xact_lock_shared(${key})::text, 2 as two`);
    const answered = Promise.all([first, second]).then(
      () => true,
      () => false,
    );
    return await Promise.race([answered, delay(PIPELINE_TIMEOUT_MS, false, { ref: false })]);
  } finally {
    // `end` would wait for the answers, which may never come.
    client.connection.stream.destroy();
    await locker.end();
  }
}

// Finds out by trying how an address treats the sessions of its clients. The version of the pooler does not tell:
// PgBouncer's setting `max_prepared_statements` decides, and there are other poolers.

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
 * share one. If it has more, it hands out the one that became idle first or last, and `probe` gives the next turn to
 * the client that has used neither.
 */
const CLIENTS = 3;
const ROUNDS = 3;
/** Bounds the probe, because a pooler without a free session lets a client wait. */
const TIMEOUT_MS = 10_000;
/**
 * "Transaction blocks not allowed in statement pooling mode" of PgBouncer has the code of a protocol violation, so its
 * text is matched.
 */
const STATEMENT_MODE = /statement pooling/i;
/** SQLSTATEs: the prepared statement exists already, or does not exist. */
const MIXED_CODES: ReadonlySet<string> = new Set(['42P05', '26000']);

/**
 * @param connect opens another connection to the address. @throws an error of `connect`, or of a query that shows no
 * mode
 */
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

/** Every client prepares another text under the same name, then uses it in sessions that the others have used. */
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
    // All at once in a transaction, so that each has a session of its own. Each round begins with the client in the
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
