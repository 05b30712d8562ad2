/** The connections of a backup or a restore, and how they print values. */
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Every server and version prints values in the same way, so the hashes of two databases can be compared. The role may
 * have time limits for statements and transactions, which a backup of a large database would exceed.
 */
const SESSION = `
  set client_encoding to 'UTF8'; set timezone to 'UTC'; set datestyle to 'ISO'; set intervalstyle to 'postgres';
  set bytea_output to 'hex'; set extra_float_digits to 1; set xmloption to 'content';
  set statement_timeout to 0; set idle_in_transaction_session_timeout to 0; set lock_timeout to '60s';
  set client_min_messages to 'warning'`;

/** Not `hustle-forge`: the trigger on `entries` reports changes to connections of that name, and nobody here reads them. */
export const APPLICATION_NAME = 'hustle-forge-backup';

export async function connectSession(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({
    ...options,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A broken connection rejects the query in flight. Without a listener, its `error` event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(SESSION);
  return client;
}

/** Also ends a connection in the middle of a COPY, where a graceful end would wait for it. */
export function dropSession(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Quotes schema and table: `public.entries` becomes `"public"."entries"`. */
export const quoteTable = (name: string): string => name.split('.').map(pg.escapeIdentifier).join('.');

export const quoteColumns = (columns: readonly string[]): string => columns.map(pg.escapeIdentifier).join(', ');
