/**
 * Puts quick writes that start in one turn of the event loop into one transaction. Its statements are one message to
 * PostgreSQL, and its commit is one flush; each statement still runs as its own user (docs/decisions/0060).
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
  isPreparedWithLimit,
  RlsQuery,
  SharedTransaction,
  type ActingAs,
  type Limit,
} from '../rls-query.ts';
import type { RequestPool } from './request-pool.ts';
import type { StatementProtocol } from './statement-protocol.ts';

/** Bounds how long a write waits for those before it in its transaction. */
export const MAX_WRITES = 8;
/**
 * Threat: a user who holds a lock on an own row, as a long import does, and saves that row meanwhile would hold up the
 * users whose writes share the transaction. Deadlocks between two transactions end after this time as well.
 */
const LOCK_LIMIT: Limit = { setting: 'lock_timeout', ms: 20 };
/** For a write that runs alone: with the same settings, its connection is prepared for shared transactions. */
export const NO_LOCK_LIMIT: Limit = { setting: 'lock_timeout', ms: 0 };
/**
 * A user whose write failed shares no transaction for this time. Threat: with a write that fails each time, a user would
 * make the others' writes run twice each time.
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

  function sendWaiting(): void {
    const writes = waiting;
    waiting = [];
    for (let from = 0; from < writes.length; from += MAX_WRITES)
      void sendTogether(writes.slice(from, from + MAX_WRITES));
  }

  async function sendTogether(writes: readonly Waiting[]): Promise<void> {
    if (writes.length === 1) return writes[0]!.answer(null);
    let client: pg.PoolClient;
    try {
      client = await requests.pool.connect();
    } catch (reason) {
      for (const { answer } of writes) answer({ status: 'rejected', reason });
      return;
    }
    // A Parse that fails would take the other statements with it.
    const isPrepared = ({ write: { actingAs, text } }: Waiting): boolean =>
      isPreparedWithLimit(client, actingAs, protocol.textOf(text), LOCK_LIMIT.setting);
    const shared: Waiting[] = [];
    for (const write of writes) {
      if (isPrepared(write)) shared.push(write);
      else write.answer(null);
    }
    const { failure, results } = await send(client, shared);
    if (failure?.error instanceof ForeignAnswerError) {
      protocol.stopPipelining();
      client.connection.stream.destroy();
    }
    const isBroken = failure !== null && requests.handleError(failure.error);
    requests.release(client, isBroken);
    const isRolledBack = failure !== null && !isBroken && outcomeOf(failure.error) === 'rolled back';
    const failed = isRolledBack && shared[failure.at];
    if (failed) alone.set(failed.write.actingAs.claimsJson, true);
    for (const [index, { answer }] of shared.entries()) answer(isRolledBack ? null : results[index]!);
  }

  async function send(client: pg.PoolClient, shared: readonly Waiting[]) {
    if (shared.length === 0) return { failure: null, results: [] };
    const queries = shared.map(
      ({ write: { actingAs, text, values } }) =>
        new RlsQuery(actingAs, protocol.textOf(text), values, types, 'named', LOCK_LIMIT),
    );
    const transaction = new SharedTransaction(queries);
    announcer.watch(client);
    client.query(transaction);
    const results = await Promise.allSettled(queries.map(({ done }) => done));
    const failure = await transaction.done;
    announcer.settle(client, failure === null ? 'committed' : outcomeOf(failure.error));
    return { failure, results };
  }

  return async (write) => {
    const answer = alone.has(write.actingAs.claimsJson) ? null : await runShared(write);
    if (answer === null) return runAlone(write);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  };
}
