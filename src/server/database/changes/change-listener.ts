/**
 * Follows the announcements of changed days on one dedicated connection, which reconnects with backoff. LISTEN needs a
 * session of its own, so this connection must not go through a pooler in transaction mode (docs/operations.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#server/log.ts';
import { ANY_CHANGE, CHANGES_CHANNEL, isUserReport, parseEntryChange, type EntryChange } from './entry-change.ts';

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;
/** Longer than most transactions take, so that those of a killed server have ended by the second check. */
const CHECK_INTERVAL_MS = 10_000;

/** How the `application_name` of these connections begins. Each server process has one such connection. */
export const LISTENER_NAME = 'hustle-forge-changes';
/** Systems reuse process ids, so a listener is identified by its process id and the start of its connection. */
const READ_LISTENERS = `
  select pid || ' ' || extract(epoch from backend_start) as listener
    from pg_stat_activity where datname = current_database() and starts_with(application_name, '${LISTENER_NAME}')`;

export type ChangeListener = {
  onChange(change: EntryChange): void;
  /**
   * Changes may have been missed: the connection is new, a server announced changes without details, or a server has
   * gone and may have left changes unannounced. `userId` is null for changes of any user.
   */
  onGap(userId: string | null): void;
};

type Deps = {
  connect: () => Promise<pg.Client>;
  log: Logger;
  listener: ChangeListener;
  checkIntervalMs?: number;
};

/** Starts in the background. Returns a function that closes the connection. */
export function listenToChanges({
  connect,
  log,
  listener,
  checkIntervalMs = CHECK_INTERVAL_MS,
}: Deps): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wait = (ms: number): Promise<unknown> => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

  function receive(payload: string): void {
    for (const line of payload.split('\n')) {
      const change = parseEntryChange(line);
      if (change) listener.onChange(change);
      else if (line === ANY_CHANGE) listener.onGap(null);
      else if (isUserReport(line)) listener.onGap(line);
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
      await checkRepeatedly(client, AbortSignal.any([signal, lost.signal]));
    } finally {
      // `end` waits for the server, which may be out of reach; the socket is closed at once.
      void client.end().catch(() => undefined);
    }
  }

  /**
   * Notices a connection that died without a sign, for example during a failover: then a check is not answered in time.
   * Also notices servers that have gone. A server that is killed between a commit and its announcement leaves the
   * change unannounced. Its last transactions may commit shortly after its connection is gone, so the gap is reported
   * one check later.
   */
  async function checkRepeatedly(client: pg.Client, ended: AbortSignal): Promise<void> {
    let known: string[] = [];
    let isServerGone = false;
    while (!ended.aborted) {
      const { rows } = await client.query<{ listener: string }>(READ_LISTENERS);
      const listeners = rows.map((row) => row.listener);
      if (isServerGone) listener.onGap(null);
      isServerGone = known.some((server) => !listeners.includes(server));
      known = listeners;
      await delay(checkIntervalMs, undefined, { signal: ended, ref: false }).catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      try {
        await listenOnce(() => {
          retryMs = FIRST_RETRY_MS;
          listener.onGap(null);
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
