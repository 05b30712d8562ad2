/**
 * Puts quick writes that start in one turn of the event loop into shared transactions of at most eight. The statements
 * of a transaction are one message to PostgreSQL, and its commit is one flush; each statement still runs as its own
 * user (docs/decisions/0060).
 *
 * If the transaction is rolled back, each of its writes is run again alone, so a write fails by its own fault only.
 */
import { LRUCache } from 'lru-cache';
import type pg from 'pg';

import type { ConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';

import { outcomeOf, type ChangeAnnouncer } from '../changes/change-announcer.ts';
import type { Result } from '../database.ts';
import {
  ForeignAnswerError,
  isPrepared,
  RlsQuery,
  SETTINGS_IN_COMPANY,
  SharedTransaction,
  type ActingAs,
} from '../rls-query.ts';
import type { RequestPool } from './request-pool.ts';
import type { StatementProtocol } from './statement-protocol.ts';

/** Bounds how long a write waits for those before it in its transaction, with `LOCK_LIMIT_MS` for each of their locks. */
export const MAX_WRITES = 8;
/**
 * A user whose write made a shared transaction fail shares none for this time. Threat: with a write that fails each
 * time, a user would make the others' writes run twice each time.
 */
const ALONE_MS = 60_000;
const MAX_ALONE = 10_000;

type Write = { readonly actingAs: ActingAs; readonly text: string; readonly values: readonly unknown[] };
type RunWrite = (write: Write) => Promise<Result<unknown>>;
/** Null: the write is to run alone. */
type Answer = PromiseSettledResult<Result<unknown>> | null;
type Waiting = { readonly write: Write; answer(answer: Answer): void };

type Deps = {
  requests: RequestPool;
  limiter: ConcurrencyLimiter;
  protocol: StatementProtocol;
  announcer: ChangeAnnouncer;
  types: pg.TypeOverrides;
  runAlone: RunWrite;
};

export function shareTransactions({ requests, limiter, protocol, announcer, types, runAlone }: Deps): RunWrite {
  const alone = new LRUCache<string, true>({ max: MAX_ALONE, ttl: ALONE_MS });
  let waiting: Waiting[] = [];

  async function runShared(write: Write): Promise<Answer> {
    const free = await limiter.acquire();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    if (waiting.length === 0) setImmediate(sendWaiting);
    waiting.push({ write, answer: resolve });
    const answer = await promise;
    free();
    return answer;
  }

  /**
   * Threat: a user sends eight writes at once, each of which waits for a lock. So a transaction has one write of a
   * user.
   */
  function sendWaiting(): void {
    const transactions: Map<string, Waiting>[] = [];
    for (const waiter of waiting) {
      const user = userOf(waiter.write);
      const open = transactions.find((writes) => writes.size < MAX_WRITES && !writes.has(user));
      if (open) open.set(user, waiter);
      else transactions.push(new Map([[user, waiter]]));
    }
    waiting = [];
    for (const writes of transactions) void sendTogether([...writes.values()]);
  }

  async function sendTogether(writes: readonly Waiting[]): Promise<void> {
    let client: pg.PoolClient;
    try {
      client = await requests.pool.connect();
    } catch (reason) {
      for (const { answer } of writes) answer({ status: 'rejected', reason });
      return;
    }
    // A Parse that fails would fail the other statements too. So only writes that are prepared on this connection go
    // together; if there are none, the first one goes alone and is prepared.
    const prepared = writes.filter(({ write: { actingAs, text } }) =>
      isPrepared(client, SETTINGS_IN_COMPANY, actingAs, protocol.textOf(text)),
    );
    const parsed = prepared.length > 0 ? prepared : writes.slice(0, 1);
    // A value that the driver cannot send fails its own write, alone.
    const queries = new Map(parsed.map((waiter) => [waiter, toQuery(waiter.write)]));
    for (const [waiter, query] of queries) if (query.prepare() !== undefined) queries.delete(waiter);
    const shared = [...queries.keys()];
    for (const waiter of writes) if (!queries.has(waiter)) waiter.answer(null);
    if (shared.length === 0) return requests.release(client, false);
    const { failure, results } = await send(client, shared, [...queries.values()]);
    if (failure?.error instanceof ForeignAnswerError) {
      protocol.stopPipelining();
      client.connection.stream.destroy();
    }
    const isBroken = failure !== null && requests.handleError(failure.error);
    requests.release(client, isBroken);
    const isRolledBack = failure !== null && !isBroken && outcomeOf(failure.error) === 'rolled back';
    if (isRolledBack) {
      // If the commit failed, nothing tells whose write was at fault.
      const failed = shared[failure.at];
      for (const { write } of failed ? [failed] : shared) alone.set(userOf(write), true);
    }
    for (const [index, { answer }] of shared.entries()) answer(isRolledBack ? null : results[index]!);
  }

  const toQuery = ({ actingAs, text, values }: Write): RlsQuery =>
    new RlsQuery(actingAs, protocol.textOf(text), values, types, 'named', null, SETTINGS_IN_COMPANY);

  async function send(client: pg.PoolClient, shared: readonly Waiting[], queries: readonly RlsQuery[]) {
    const transaction = new SharedTransaction(queries);
    announcer.watch(client);
    client.query(transaction);
    const results = await Promise.allSettled(queries.map(({ done }) => done));
    const failure = await transaction.done;
    const outcome = failure === null ? 'committed' : outcomeOf(failure.error);
    announcer.settle(client, outcome);
    if (outcome === 'committed') announcer.announce(transaction.changes);
    if (outcome === 'unknown') announcer.announce(shared.map(({ write }) => userOf(write)).join('\n'));
    return { failure, results };
  }

  return async (write) => {
    const answer = alone.has(userOf(write)) ? null : await runShared(write);
    if (answer === null) return runAlone(write);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  };
}

/** The user id, which is also a report that any of the user's days may have changed. Guests are one user. */
const userOf = ({ actingAs }: Write): string => (JSON.parse(actingAs.claimsJson) as { sub?: string }).sub ?? '';
