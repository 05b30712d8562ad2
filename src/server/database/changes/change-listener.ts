/**
 * Follows the announcements of changed days on one dedicated connection, which reconnects with backoff. LISTEN needs a
 * session of its own, so this connection must not go through a pooler in transaction mode (docs/operations.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#server/log.ts';
import { ANY_CHANGE, CHANGES_CHANNEL, parseEntryChange } from './entry-change.ts';
import type { EntryChange } from './entry-change.ts';

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;
/** A connection can die without a sign, for example during a failover: each check must be answered in time. */
const CHECK_INTERVAL_MS = 10_000;

export type ChangeListener = {
  onChange(change: EntryChange): void;
  /** Changes may have been missed: the connection is new, or a server announced changes without details. */
  onGap(): void;
};

type Deps = { connect: () => Promise<pg.Client>; log: Logger; listener: ChangeListener };

/** Starts in the background. Returns a function that closes the connection. */
export function listenToChanges({ connect, log, listener }: Deps): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wait = (ms: number): Promise<unknown> => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

  function receive(payload: string): void {
    for (const line of payload.split('\n')) {
      const change = parseEntryChange(line);
      if (change) listener.onChange(change);
      else if (line === ANY_CHANGE) listener.onGap();
    }
  }

  /** Resolves when the connection is lost or the listener stops. `onListening` is called once LISTEN has succeeded. */
  async function listenOnce(onListening: () => void): Promise<void> {
    const client = await connect();
    const lost = new AbortController();
    client.once('end', () => lost.abort());
    try {
      client.on('notification', ({ payload = '' }) => receive(payload));
      await client.query(`listen ${CHANGES_CHANNEL}`);
      onListening();
      const ended = AbortSignal.any([signal, lost.signal]);
      while (!ended.aborted) {
        await delay(CHECK_INTERVAL_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
        if (!ended.aborted) await client.query('select 1');
      }
    } finally {
      // `end` waits for the server, which may be out of reach; the socket is closed at once.
      void client.end().catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      try {
        await listenOnce(() => {
          retryMs = FIRST_RETRY_MS;
          listener.onGap();
        });
        if (!signal.aborted) log.warn('the connection for changes of other servers was lost, reconnecting');
      } catch (error) {
        if (!signal.aborted) log.warn({ reason: String(error), retryMs }, 'cannot listen for changes yet');
      }
      // Jitter: the servers of one database lose their connections at the same moment.
      await wait(retryMs * (0.5 + Math.random() / 2));
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
