/** A server of another project that stores a journal, with the requests of `http/journal-requests.ts` in its API. */
import { join } from 'node:path';
import pg from 'pg';
import { addDays, dayOf } from '#domain/day/day.ts';
import type { MakeRequest } from '../http/journal-requests.ts';
import { DAYS_EACH } from '../seeded-database.ts';

const today = dayOf(new Date());

export type PeerPerson = {
  token: string;
  /** The id of each day's row, for APIs that address a row by its id. */
  rows: ReadonlyMap<string, string>;
};

export type Peer = {
  name: string;
  url: string;
  /** The processes of the server, and of its database if it has one of its own. */
  pids: readonly number[];
  people: readonly PeerPerson[];
  readDay: MakeRequest<PeerPerson>;
  saveDay: MakeRequest<PeerPerson>;
  listDates: MakeRequest<PeerPerson>;
  stop(): Promise<void>;
};

/** Where the peers are built and installed. Not removed: building them takes minutes. */
export const PEERS_FOLDER = join(import.meta.dirname, '..', '..', 'data', 'peers');

/** Sends JSON and returns the JSON of the response. Throws if the server rejects the request. */
export async function requestJson<Answer>(
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`);
  return (text === '' ? null : JSON.parse(text)) as Answer;
}

/** Maps each date of the year to the id of its row. `idOf` receives the days before today. */
export const rowsByDate = (idOf: (daysAgo: number) => string): ReadonlyMap<string, string> =>
  new Map(Array.from({ length: DAYS_EACH }, (_, daysAgo) => [addDays(today, -daysAgo), idOf(daysAgo)]));

/** Runs a statement that fills a table of a peer's own database. */
export async function runSql(databaseUrl: string, text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(text, values);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
