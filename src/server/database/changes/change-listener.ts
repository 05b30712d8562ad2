/**
 * Follows the announcements of changed days on one dedicated connection, which reconnects with backoff. LISTEN needs a
 * session of its own, so this connection must not go through a pooler in transaction mode (docs/operations.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#server/log.ts';
import { isDay, type Day } from '#domain/day/day.ts';

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

type Deps = { connect: () => Promise<pg.Client>; log: Logger; listener: ChangeListener; checkIntervalMs?: number };

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
      // Not awaited: `end` waits for the server, which may be out of reach.
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

/**
 * A committed change of a day, as the trigger `follow_entry` writes it: `USER DATE ROW REVISION`
 * (docs/specification/live.md). It carries no text of the log.
 */
export type EntryChange = {
  userId: string;
  date: Day;
  id: string;
  /** Null: the day no longer has the row `id`. */
  revision: number | null;
};

export const CHANGES_CHANNEL = 'entry_changes';
/** The SQLSTATE of the notice with which the trigger reports a change to the connection that made it. */
export const REPORT_SQLSTATE = 'HF001';
/** A line of the payload that stands for any number of changes of any user: every page must read its open days again. */
export const ANY_CHANGE = '*';

/** A line that stands for any number of changes of one user is the user's id. */
const USER_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const isUserReport = (line: string): boolean => USER_ID.test(line);
/** The id of the user whose days a line reports. Returns `ANY_CHANGE`, which names no user, unchanged. */
export const userOfReport = (line: string): string => line.split(' ', 1)[0]!;

/** Returns null for a line of another format, such as one of a newer release. */
function parseEntryChange(line: string): EntryChange | null {
  const [userId, date, id, revision, ...more] = line.split(' ');
  if (!userId || !isDay(date) || !id || more.length > 0) return null;
  if (revision === undefined) return { userId, date, id, revision: null };
  return /^\d{1,10}$/.test(revision) ? { userId, date, id, revision: Number(revision) } : null;
}
