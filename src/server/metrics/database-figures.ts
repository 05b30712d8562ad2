/**
 * Figures that only the database knows, such as those of jobs, payments, webhooks and migrations. A scrape starts a
 * read when the figures are too old, waits for it up to `MAX_WAIT_MS` and otherwise reports the earlier ones, so that a
 * slow or unreachable database does not block /metrics. `hustle_forge_database_up` says whether the last read succeeded
 * in time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AsService, Database } from '../database/database.ts';
import { JOBS_SCHEMA } from '../database/roles.ts';
import { singleFlight } from '#server/load/single-flight.ts';
import { Gauge, type GaugeOf, type MetricsRegistry } from './prom-client.ts';

const MAX_AGE_MS = 15_000;
/** Longer than for the other figures, because counting the payments reads the whole table. */
const MAX_AGE_OF_COUNTS_MS = 300_000;
const MAX_WAIT_MS = 500;
const STATEMENT_TIMEOUT_MS = 2_000;

const JOBS = `
  select name, state::text, count(*)::float8 as count,
         coalesce(extract(epoch from now() - min(greatest(created_on, start_after))), 0)::float8 as "oldestSeconds",
         extract(epoch from max(completed_on))::float8 as "lastCompletedAt"
    from ${JOBS_SCHEMA}.job group by name, state`;
const WEBHOOKS = `
  select count(*)::float8 as count, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as "oldestSeconds"
    from payment_events where processed_at is null`;
const MAILS = 'select count(*)::float8 as count from payments where mail_due_at <= now()';
const MIGRATIONS = 'select count(*)::float8 as count from migrations.applied';
const PAYMENTS = 'select status, count(*)::float8 as count from payments group by status';
const BYTES = 'select pg_database_size(current_database())::float8 as bytes';

type JobRow = { name: string; state: string; count: number; oldestSeconds: number; lastCompletedAt: number | null };
type Waiting = { count: number; oldestSeconds: number };
type Figures = { jobs: JobRow[]; webhooks: Waiting; mails: number; migrations: number; ready: boolean };
type Counts = { payments: { status: string; count: number }[]; bytes: number };

/** The states of a job of pg-boss that is not finished. */
const WAITING_STATES: ReadonlySet<string> = new Set(['created', 'retry', 'active']);

/** @param database without the wrappers that count errors and trace: these statements serve no user */
export function registerDatabaseFigures(registry: MetricsRegistry, database: Database): void {
  const figures = cached(MAX_AGE_MS, () => readFigures(database));
  const counts = cached(MAX_AGE_OF_COUNTS_MS, () => readCounts(database));

  // The registry collects its metrics concurrently, so each one waits for the same read.
  function gauge<Value, Label extends string = never>(
    source: () => Promise<Cached<Value>>,
    { name, help, labelNames = [] }: { name: string; help: string; labelNames?: readonly Label[] },
    report: (metric: GaugeOf<Label>, value: Value) => void,
  ): void {
    void new Gauge({
      name: `hustle_forge_${name}`,
      help,
      labelNames,
      // Every worker of a machine reads the same database, so their figures are not added up.
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const { value } = await source();
        if (value === null) return;
        if (labelNames.length > 0) this.reset();
        report(this, value);
      },
    });
  }

  void new Gauge({
    name: 'hustle_forge_database_up',
    help: '1 if the last read of the database, at most 15 s ago, succeeded.',
    aggregator: 'min',
    registers: [registry],
    async collect() {
      this.set((await figures()).ok ? 1 : 0);
    },
  });
  gauge(figures, { name: 'ready', help: '1 if the database has what this program needs.' }, (metric, { ready }) =>
    metric.set(ready ? 1 : 0),
  );
  gauge(figures, { name: 'migrations_applied', help: 'Migrations that the database has.' }, (metric, value) =>
    metric.set(value.migrations),
  );
  gauge(
    figures,
    { name: 'jobs', help: 'Jobs in the queue by state.', labelNames: ['name', 'state'] },
    (metric, { jobs }) => {
      for (const { name, state, count } of jobs) metric.set({ name, state }, count);
    },
  );
  gauge(
    figures,
    {
      name: 'job_oldest_waiting_seconds',
      help: 'How long the oldest unfinished run of a job is due.',
      labelNames: ['name'],
    },
    (metric, { jobs }) => {
      for (const { name, state, oldestSeconds } of jobs)
        if (WAITING_STATES.has(state)) metric.set({ name }, Math.max(0, oldestSeconds));
    },
  );
  gauge(
    figures,
    {
      name: 'job_last_success_timestamp_seconds',
      help: 'When a job last succeeded on any server of the database.',
      labelNames: ['name'],
    },
    (metric, { jobs }) => {
      for (const { name, state, lastCompletedAt } of jobs)
        if (state === 'completed' && lastCompletedAt !== null) metric.set({ name }, lastCompletedAt);
    },
  );
  gauge(
    figures,
    { name: 'webhooks_unprocessed', help: 'Webhooks of PayPal that are stored and not yet processed.' },
    (metric, { webhooks }) => metric.set(webhooks.count),
  );
  gauge(
    figures,
    { name: 'webhook_oldest_unprocessed_seconds', help: 'Age of the oldest unprocessed webhook.' },
    (metric, { webhooks }) => metric.set(webhooks.oldestSeconds),
  );
  gauge(
    figures,
    { name: 'payment_mails_due', help: 'Mails about payments that are due and not yet accepted.' },
    (metric, { mails }) => metric.set(mails),
  );
  gauge(
    counts,
    { name: 'payments', help: 'Payments by state, at most five minutes old.', labelNames: ['status'] },
    (metric, { payments }) => {
      for (const { status, count } of payments) metric.set({ status }, count);
    },
  );
  gauge(
    counts,
    { name: 'database_size_bytes', help: 'Size of the database, at most five minutes old.' },
    (metric, { bytes }) => metric.set(bytes),
  );
}

type Cached<T> = { value: T | null; ok: boolean };

/** Single-flight. Returns the earlier value, with `ok: false`, if the read fails or takes longer than `MAX_WAIT_MS`. */
function cached<T>(maxAgeMs: number, read: () => Promise<T>): () => Promise<Cached<T>> {
  let last: Cached<T> = { value: null, ok: false };
  let readAt = -Infinity;

  const refresh = singleFlight(async () => {
    try {
      last = { value: await read(), ok: true };
      readAt = performance.now();
    } catch {
      last = { ...last, ok: false };
    }
  });

  return async () => {
    if (performance.now() - readAt < maxAgeMs && last.ok) return last;
    const isDone = await Promise.race([refresh().then(() => true), delay(MAX_WAIT_MS, false, { ref: false })]);
    return isDone ? last : { ...last, ok: false };
  };
}

async function readFigures(database: Database): Promise<Figures> {
  const service = database.asService('read figures for /metrics');
  const one = async <Row>(text: string): Promise<Row> => (await service.statement<Row>(text, [])).rows[0]!;
  // One after the other, so that this read takes one connection of the pool.
  const jobs = await readJobs(service);
  const webhooks = await one<Waiting>(WEBHOOKS);
  const { count: mails } = await one<{ count: number }>(MAILS);
  const { count: migrations } = await one<{ count: number }>(MIGRATIONS);
  return { jobs, webhooks, mails, migrations, ready: await database.isReady() };
}

/** Empty until the queue has created its tables, shortly after the first start. */
async function readJobs(service: AsService): Promise<JobRow[]> {
  const { rows } = await service.statement<{ exists: boolean }>(
    `select to_regclass('${JOBS_SCHEMA}.job') is not null as exists`,
    [],
  );
  return rows[0]!.exists ? (await service.statement<JobRow>(JOBS, [])).rows : [];
}

function readCounts(database: Database): Promise<Counts> {
  return database.transactAsService('count payments for /metrics', async (transaction) => {
    await transaction.statement(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`, []);
    const { rows: payments } = await transaction.statement<Counts['payments'][number]>(PAYMENTS, []);
    const { rows } = await transaction.statement<{ bytes: number }>(BYTES, []);
    return { payments, bytes: rows[0]!.bytes };
  });
}
