/**
 * The database interface for the rest of the server. Every statement runs under an explicit identity: a store takes an
 * `AsUser` or an `AsService`. Only `pooled-database.ts` and the doctor create those.
 */
import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';
import type { ConcurrencyLimiter } from '../load/concurrency-limiter.ts';
import type { ChangeListener } from './changes/change-listener.ts';

export type PoolState = {
  /** Open connections; `idle` of them serve no statement. */
  readonly size: number;
  readonly idle: number;
  readonly max: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
};

/** The identity that row-level security sees: the role, and the claims as JSON (`request.jwt.claims`). */
export type Identity = {
  role: 'anon' | 'authenticated';
  /**
   * The claims that policies read, as JSON: those of an access token, or those that the server makes to work on behalf
   * of a user. A guest has only the role: `{"role":"anon"}`.
   */
  claimsJson: string;
};

export type Result<Row> = { rows: Row[]; rowCount: number };

export interface Statements {
  /** Runs a query of the `queryBuilder`, which only compiles SQL, and returns its rows. */
  run<Row>(query: { compile(): CompiledQuery<Row> }): Promise<Row[]>;
  /** Runs SQL text with `$1` parameters. The text must be made of constants and allow-listed names only. */
  statement<Row>(text: string, values: readonly unknown[]): Promise<Result<Row>>;
}

export type StatementOptions = {
  /**
   * The statement only reads, and PostgreSQL answers it within milliseconds. It may share a connection with other quick
   * reads, also of other users, which a slow one would delay.
   */
  isQuickRead?: boolean;
  /**
   * The statement writes a short row of its user, and can be run again after a rollback. It may share a transaction,
   * and so the flush to disk at its commit, with quick writes of other users.
   */
  isQuickWrite?: boolean;
};

declare const actingFor: unique symbol;
export type AsUser = Statements & { readonly [actingFor]: 'user' };
export type AsService = Statements & { readonly [actingFor]: 'service' };

export type FinishOptions = {
  /** Stops before the next migration or batch. */
  signal?: AbortSignal | undefined;
  /** Applies the phase `contract` even while servers of an older version are connected, which then stop being ready. */
  force?: boolean | undefined;
};

export type MigrationProgress = {
  /** The number of migrations that this call has applied. */
  applied: number;
  /** Why a migration could not be applied yet; null if none is left. */
  waitsFor: string | null;
};

export interface Database {
  /**
   * Runs each statement under row-level security, in a transaction of its own unless it is a quick write that shares
   * one.
   */
  asUser(identity: Identity, options?: StatementOptions): AsUser;
  /** For what acts for the system, not for a user: sign-in, webhooks, jobs, counters. Logs the reason at debug level. */
  asService(reason: string): AsService;
  /** Runs several statements in one transaction. Never wait for a provider (PayPal, AI, mail) inside `work`. */
  transactAsUser<T>(identity: Identity, work: (transaction: AsUser) => Promise<T>): Promise<T>;
  transactAsService<T>(reason: string, work: (transaction: AsService) => Promise<T>): Promise<T>;
  /**
   * Opens a dedicated connection as the table owner and closes it after `work`. For DDL and restores: no request uses
   * it.
   */
  asOwner<T>(reason: string, work: (owner: Client) => Promise<T>): Promise<T>;
  /**
   * Follows the changes of days that any server of the database commits. Starts in the background; returns a function
   * that stops.
   */
  listenToChanges(listener: ChangeListener): () => Promise<void>;
  /** The limiter of reads that were declared as quick and exceeded the time limit of quick reads. */
  readonly slowReads: ConcurrencyLimiter;
  /**
   * The limiter of the connections for requests. A statement waits in its queue, and throws a BusyError if it may not
   * queue or waits too long.
   */
  readonly connections: Pick<ConcurrencyLimiter, 'refuseIfFull' | 'state'>;
  /** The state of the pool of connections for requests. */
  poolState(): PoolState;
  /** Applies the migrations that run while servers serve (docs/operations/upgrades.md). */
  finishMigrations(options?: FinishOptions): Promise<MigrationProgress>;
  /** True when the database responds and its schema fits this program, also after a newer program has expanded it. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}
