/**
 * Collects the reports of changed days that PostgreSQL sends to this server's own connections, and announces them to
 * all servers of the database with NOTIFY.
 *
 * NOTIFY takes a lock of the whole database server that its transaction holds until its commit is flushed. Inside the
 * transaction of a save it cut the throughput of concurrent saves to a sixth (docs/decisions/0029). A batch is
 * therefore announced after the commits of its changes, in a transaction of its own that waits for no flush.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import { ANY_CHANGE, REPORT_SQLSTATE, userOfReport } from './change-listener.ts';

const BATCH_DELAY_MS = 50;
const RETRY_DELAY_MS = 1_000;
/**
 * How long `close` waits for a database that hangs. Pages read their days again once this server has gone
 * (change-listener.ts), so no change stays unseen.
 */
const CLOSE_LIMIT_MS = 5_000;
/** PostgreSQL limits a payload to 7,999 bytes; a report has at most 96. */
const REPORTS_PER_PAYLOAD = 80;
/** More reports than this, as an outage or one statement of a client can leave, are replaced by the ids of their users. */
const MAX_REPORTS = 1_000;

export type ChangeAnnouncer = {
  /** Collects the changed days that a connection reports from now on. Idempotent. */
  watch(client: pg.ClientBase): void;
  /** Announces the days that the connection has reported since the last call, unless their transaction was rolled back. */
  settle(client: pg.ClientBase, outcome: Outcome): void;
  /** Announces changed days, a report in each line. */
  announce(reports: string): void;
  /** Tells all servers that changes of any user may have been missed. */
  announceAny(): void;
  /** Announces what is pending, best effort. Call before the pool ends. */
  close(): Promise<void>;
};

/** `unknown`: the connection was lost. Announcing a change that was rolled back only makes a page read its day again. */
export type Outcome = 'committed' | 'rolled back' | 'unknown';

/** The outcome of a transaction whose last request failed: an error of PostgreSQL itself means a rollback. */
export const outcomeOf = (error: unknown): Outcome => (error instanceof pg.DatabaseError ? 'rolled back' : 'unknown');

type Deps = { notify: (payloads: string[]) => Promise<unknown>; log: Logger; closeLimitMs?: number };

export function createChangeAnnouncer({ notify, log, closeLimitMs = CLOSE_LIMIT_MS }: Deps): ChangeAnnouncer {
  const reports = new WeakMap<pg.ClientBase, string[]>();
  let pending: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;

  function scheduleSend(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = null;
      sending ??= send().finally(() => (sending = null));
    }, delayMs).unref();
  }

  function add(lines: readonly string[]): void {
    pending = limitReports([...pending, ...lines]);
    scheduleSend(BATCH_DELAY_MS);
  }

  async function send(): Promise<void> {
    const batch = pending;
    pending = [];
    const payloads: string[] = [];
    for (let from = 0; from < batch.length; from += REPORTS_PER_PAYLOAD)
      payloads.push(batch.slice(from, from + REPORTS_PER_PAYLOAD).join('\n'));
    try {
      if (payloads.length > 0) await notify(payloads);
      if (pending.length > 0) scheduleSend(BATCH_DELAY_MS);
    } catch (error) {
      log.warn({ reason: String(error) }, 'changes could not be announced yet');
      pending = limitReports([...batch, ...pending]);
      scheduleSend(RETRY_DELAY_MS);
    }
  }

  async function sendPending(): Promise<void> {
    await sending;
    if (timer) clearTimeout(timer);
    timer = null;
    await send();
  }

  return {
    watch(client) {
      if (reports.has(client)) return;
      reports.set(client, []);
      client.on('notice', ({ code, message }) => {
        if (code === REPORT_SQLSTATE && message !== undefined) reports.get(client)?.push(message);
      });
    },
    settle(client, outcome) {
      const reported = reports.get(client) ?? [];
      if (reported.length === 0) return;
      reports.set(client, []);
      if (outcome !== 'rolled back') add(reported);
    },
    announce(lines) {
      if (lines !== '') add(lines.split('\n'));
    },
    announceAny: () => add([ANY_CHANGE]),
    async close() {
      await Promise.race([sendPending(), delay(closeLimitMs, undefined, { ref: false })]);
      if (timer) clearTimeout(timer);
    },
  };
}

/**
 * Threat: one user rewrites thousands of days in a loop. Replaces too many reports by the ids of their users, so that
 * the pages of other users need not read again.
 */
function limitReports(lines: string[]): string[] {
  if (lines.length <= MAX_REPORTS) return lines;
  const users = [...new Set(lines.map(userOfReport))];
  return users.length <= MAX_REPORTS ? users : [ANY_CHANGE];
}
