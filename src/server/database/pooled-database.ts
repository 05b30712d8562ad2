/** The `Database` over a connection pool; each connection acts for one identity at a time. */
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

import { createConcurrencyLimiter, runLimited, type Limits } from '#server/load/concurrency-limiter.ts';
import { runAsServer } from '#server/load/request-context.ts';
import type { Logger } from '#server/log.ts';

import { createChangeAnnouncer, outcomeOf, type Outcome } from './changes/change-announcer.ts';
import { listenToChanges, CHANGES_CHANNEL } from './changes/change-listener.ts';
import type { RequestPool } from './connection/request-pool.ts';
import { QUERY_CANCELED, sqlStateOf } from './database-error.ts';
import type { StatementProtocol } from './connection/statement-protocol.ts';
import { shareConnections, type Lease } from './connection/share-connections.ts';
import { shareTransactions } from './connection/share-transactions.ts';
import type {
  AsService,
  AsUser,
  Database,
  MigrationProgress,
  Result,
  StatementOptions,
  Statements,
} from './database.ts';
import { ACT_AS, ForeignAnswerError, isPrepared, RlsQuery, SETTINGS_WITH_LIMIT, type ActingAs } from './rls-query.ts';
import type { FinishDeps } from './migrations/migrate.ts';
import { valueTypes } from './tables.ts';

export type PooledDatabaseOptions = {
  requests: RequestPool;
  protocol: StatementProtocol;
  log: Logger;
  isCurrent(service: AsService): Promise<boolean>;
  finishMigrations(deps: FinishDeps): Promise<MigrationProgress>;
  connectOwner(): Promise<pg.Client>;
  /** The time limit of a quick read. Only tests set it. */
  quickReadLimitMs?: number | undefined;
  /** Opens a connection for LISTEN, outside the pool. */
  connectListener(): Promise<pg.Client>;
  /** Called after the pool is closed; stops the embedded server. */
  onClosed(): Promise<void>;
};

/**
 * A transaction that does not wait for its flush: NOTIFY holds a lock until the commit ends, which blocks the NOTIFY of
 * every other transaction.
 */
const NOTIFY = `
  select set_config('synchronous_commit', 'off', true), pg_notify('${CHANGES_CHANNEL}', payload)
    from unnest($1::text[]) as payload`;

/**
 * The time limit of a read that may share its connection. Threat: a read that is taken for a quick one and is slow
 * delays the reads of other users behind it. A read waits for at most `MAX_PIPELINED - 1` others, so for less than two
 * seconds.
 */
const QUICK_READ_LIMIT_MS = 200;
/**
 * A read that reached the limit shares no connection for this time, for the same caller. Threat: a slow read that is
 * repeated would delay the reads behind it by the limit each time.
 */
const SLOW_READ_MS = 60_000;
const MAX_SLOW_READS = 1_000;
/**
 * Threat: a few users who repeat slow reads without a pause delay every other read and save. So two slow reads run at a
 * time, one of a user.
 */
const SLOW_READS: Limits = { maxRunning: 2, maxPerClient: 1, maxQueued: 1_000 };

const SERVICE: ActingAs = { role: 'service_role', claimsJson: '{"role":"service_role"}' };

export function createPooledDatabase(options: PooledDatabaseOptions): Database {
  const { requests, protocol, log, isCurrent, finishMigrations, connectOwner, connectListener, onClosed } = options;
  const { quickReadLimitMs = QUICK_READ_LIMIT_MS } = options;
  const connections = shareConnections(requests);
  const slowReads = new LRUCache<string, true>({ max: MAX_SLOW_READS, ttl: SLOW_READ_MS });
  const slowReadLimiter = createConcurrencyLimiter(SLOW_READS);
  const types = valueTypes();
  const announcer = createChangeAnnouncer({
    log,
    notify: (payloads) => runAsServer(() => runAlone(SERVICE, NOTIFY, [payloads])),
  });

  const runWrite = shareTransactions({
    requests,
    limiter: connections.limiter,
    protocol,
    announcer,
    types,
    runAlone: ({ actingAs, text, values }) => runAlone(actingAs, text, values),
  });

  const isKnownAsSlow = (actingAs: ActingAs, text: string): boolean =>
    slowReads.size > 0 && slowReads.has(readKey(actingAs, text));

  /** Runs a slow read on a connection of its own, without the limit of quick reads, once its turn has come. */
  const runSlowRead = (actingAs: ActingAs, text: string, values: readonly unknown[]): Promise<Result<unknown>> =>
    runLimited(slowReadLimiter, () => runAlone(actingAs, text, values));

  async function runAlone(
    actingAs: ActingAs,
    text: string,
    values: readonly unknown[],
    { isQuickRead = false }: StatementOptions = {},
  ): Promise<Result<unknown>> {
    if (isQuickRead && isKnownAsSlow(actingAs, text)) return runSlowRead(actingAs, text, values);
    const sent = protocol.textOf(text);
    const mayPipeline = isQuickRead && protocol.canPipeline;
    const lease = mayPipeline
      ? await connections.leasePipelined((client) => isPrepared(client, SETTINGS_WITH_LIMIT, actingAs, sent))
      : await connections.lease();
    const limitMs = mayPipeline ? quickReadLimitMs : null;
    const { client } = lease;
    announcer.watch(client);
    try {
      const result = await client.query(new RlsQuery(actingAs, sent, values, types, protocol.names, limitMs)).done;
      announcer.settle(client, 'committed');
      lease.release();
      return result;
    } catch (error) {
      announcer.settle(client, outcomeOf(error));
      if (error instanceof ForeignAnswerError) {
        protocol.stopPipelining();
        // The other queries of the pipeline might wait for answers that went to another connection.
        client.connection.stream.destroy();
      }
      if (error instanceof pg.DatabaseError && protocol.adaptToError(error, sent))
        return runUnnamed(lease, actingAs, text, values);
      lease.release(error);
      if (mayPipeline && sqlStateOf(error) === QUERY_CANCELED) {
        slowReads.set(readKey(actingAs, text), true);
        return runSlowRead(actingAs, text, values);
      }
      throw error;
    }
  }

  /**
   * The second attempt after an error of a prepared statement. Discards the connection, whose session may have changed.
   */
  async function runUnnamed(
    lease: Lease,
    actingAs: ActingAs,
    text: string,
    values: readonly unknown[],
  ): Promise<Result<unknown>> {
    let outcome: Outcome = 'committed';
    try {
      return await lease.client.query(new RlsQuery(actingAs, text, values, types, 'unnamed')).done;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      announcer.settle(lease.client, outcome);
      lease.discard();
    }
  }

  async function transact<T>(actingAs: ActingAs, work: (transaction: Statements) => Promise<T>): Promise<T> {
    const lease = await connections.lease();
    const { client } = lease;
    announcer.watch(client);
    let isCommitting = false;
    try {
      await client.query('begin');
      await client.query(ACT_AS, [actingAs.role, actingAs.claimsJson]);
      const answer = await work(statements(async (text, values) => asOneResult(await client.query(text, [...values]))));
      isCommitting = true;
      await client.query('commit');
      announcer.settle(client, 'committed');
      lease.release();
      return answer;
    } catch (error) {
      announcer.settle(client, isCommitting ? outcomeOf(error) : 'rolled back');
      // If the rollback fails, the connection is unusable: discard it, and PostgreSQL rolls back by itself.
      await client.query('rollback').then(
        () => lease.release(error),
        () => lease.discard(),
      );
      throw error;
    }
  }

  const asUser = (actingAs: ActingAs, sharing?: StatementOptions) =>
    statements((text, values) =>
      sharing?.isQuickWrite && protocol.canPipeline
        ? runWrite({ actingAs, text, values })
        : runAlone(actingAs, text, values, sharing),
    ) as AsUser;
  const asService = (reason: string) => {
    log.debug({ reason }, 'acting as the service');
    return statements((text, values) => runAlone(SERVICE, text, values)) as AsService;
  };

  const asOwner: Database['asOwner'] = async (reason, work) => {
    log.debug({ reason }, 'acting as the owner of the tables');
    const owner = await connectOwner();
    try {
      return await work(owner);
    } finally {
      await owner.end();
    }
  };

  return {
    asUser,
    asService,
    transactAsUser: (identity, work) => transact(identity, (transaction) => work(transaction as AsUser)),
    transactAsService: (reason, work) => {
      log.debug({ reason }, 'acting as the service');
      return transact(SERVICE, (transaction) => work(transaction as AsService));
    },
    asOwner,
    finishMigrations: (given) =>
      finishMigrations({
        ...given,
        service: asService('finish migrations'),
        asOwner: (work) => asOwner('finish migrations', work),
      }),
    listenToChanges: (listener) => {
      // A server that was killed may have left changes unannounced. Its next start tells every page to read again.
      announcer.announceAny();
      return listenToChanges({ connect: connectListener, log, listener });
    },
    poolState: () => ({
      size: requests.pool.totalCount,
      idle: requests.pool.idleCount,
      waiting: connections.limiter.state().queued,
      max: requests.pool.options.max,
    }),
    connections: connections.limiter,
    slowReads: slowReadLimiter,
    isReady: () => isCurrent(asService('check readiness')).catch(() => false),
    close: async () => {
      await announcer.close();
      await requests.end();
      await onClosed();
    },
  };
}

const readKey = ({ claimsJson }: ActingAs, text: string): string => `${claimsJson} ${text}`;

type Answer = { rows: unknown[]; rowCount: number | null };
type Send = (text: string, values: readonly unknown[]) => Promise<Answer>;

/** The driver returns a list for a multi-statement text (only pg-boss sends those); its types omit that. */
function asOneResult(answer: Answer | Answer[]): Answer {
  if (!Array.isArray(answer)) return answer;
  return { rows: answer.flatMap(({ rows }) => rows), rowCount: null };
}

function statements(send: Send): Statements {
  return {
    async run<Row>(query: { compile(): CompiledQuery<Row> }): Promise<Row[]> {
      const { sql, parameters } = query.compile();
      const { rows } = await send(sql, parameters);
      return rows as Row[];
    },
    async statement<Row>(text: string, values: readonly unknown[]): Promise<Result<Row>> {
      const { rows, rowCount } = await send(text, values);
      return { rows: rows as Row[], rowCount: rowCount ?? 0 };
    },
  };
}
