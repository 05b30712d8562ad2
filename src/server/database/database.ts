/**
 * What the rest of the server may ask of the database. There is no way to run a statement without saying on whose
 * behalf: a store takes an `AsUser` or an `AsService`, and only this folder makes those.
 */
import type { CompiledQuery } from 'kysely';
import type { Client } from 'pg';

/** The identity that row-level security sees: the role, and the claims as JSON (`request.jwt.claims`). */
export type Identity = {
  role: 'anon' | 'authenticated';
  /** Those claims of the access token that policies ask for, `{}` for a guest. */
  claimsJson: string;
};

export type Result<Row> = { rows: Row[]; rowCount: number };

export interface Statements {
  /** Runs a query built with `queryBuilder` (Kysely, compiled only) and answers its rows. */
  run<Row>(query: { compile(): CompiledQuery<Row> }): Promise<Row[]>;
  /** Runs SQL text with `$1` parameters. The text must be made of constants and allow-listed names only. */
  statement<Row>(text: string, values: readonly unknown[]): Promise<Result<Row>>;
}

declare const actingFor: unique symbol;
export type AsUser = Statements & { readonly [actingFor]: 'user' };
export type AsService = Statements & { readonly [actingFor]: 'service' };

export interface Database {
  /** Each statement is a transaction of its own under row-level security, in one round trip. */
  asUser(identity: Identity): AsUser;
  /** The few paths that act for the system (sign-in, webhooks). The reason is logged at debug level. */
  asService(reason: string): AsService;
  /** Several statements that belong together. Never wait for a provider (PayPal, AI, mail) inside `work`. */
  transactAsUser<T>(identity: Identity, work: (transaction: AsUser) => Promise<T>): Promise<T>;
  transactAsService<T>(reason: string, work: (transaction: AsService) => Promise<T>): Promise<T>;
  /**
   * A connection of its own as the owner of the tables, closed after `work`. For what makes or changes tables and
   * nothing else: no request ever comes here.
   */
  asOwner<T>(reason: string, work: (owner: Client) => Promise<T>): Promise<T>;
  /** True when the server answers and every migration that this program knows has been applied. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}
