/**
 * Counts what the server does apart from answering requests. No label value is personal or chosen by a client, so the
 * number of series is bounded.
 */
import { isConnectionFailure, sqlStateOf } from '../database/database-error.ts';
import type { AsService, AsUser, Database, Statements } from '../database/database.ts';
import { Counter, Gauge, Histogram, type MetricsRegistry } from './prom-client.ts';

const ANALYSIS_BUCKETS_SECONDS = [1, 2, 5, 10, 20, 30, 60];

/** Each member counts one event of a feature. */
export type EventCounters = {
  /** `retrying`: the mailer tries again. `deferred`: the next run of the job tries again. All others are final. */
  mail(outcome: 'sent' | 'retrying' | 'deferred' | 'rejected' | 'failed' | 'dropped'): void;
  /** `sent`, or the reason of an `SmsError`. */
  text(outcome: string): void;
  signIn(method: string): void;
  /** A code of the catalogue in `auth/http/errors.ts`. */
  authError(code: string): void;
  jobScheduled(job: { name: string; everySeconds: number }): void;
  job(run: { name: string; succeeded: boolean; ms: number }): void;
  analysis(run: { kind: string; outcome: string; ms: number }): void;
  /** A `Verdict` of `payments/webhook.ts`, such as `genuine` or `forged`. */
  webhook(verdict: string): void;
  /** An `Outcome` of `inbound/inbound.ts`. */
  inboundMail(outcome: string): void;
  /** The class of the SQLSTATE, or `connection`. */
  databaseError(errorClass: string): void;
  /** `change`: a changed day that this server received. `gap`: changes may have been missed. */
  announcement(kind: 'change' | 'gap'): void;
};

export function createEventCounters(registry: MetricsRegistry): EventCounters {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `hustle_forge_${name}`, help, labelNames, registers });
  const mails = counter('mails_total', 'Mails by outcome.', ['outcome']);
  const texts = counter('texts_total', 'Text messages by outcome.', ['outcome']);
  const signIns = counter('sign_ins_total', 'Sign-ins by method.', ['method']);
  const authErrors = counter('auth_errors_total', 'Error answers of the auth API by code.', ['code']);
  // Not `job`: Prometheus gives every series a label of that name.
  const jobRuns = counter('job_runs_total', 'Runs of jobs on this server by outcome.', ['name', 'outcome']);
  const jobPeriods = new Gauge({
    name: 'hustle_forge_job_period_seconds',
    help: 'The period of each job of this installation.',
    labelNames: ['name'],
    aggregator: 'max',
    registers,
  });
  const jobSeconds = counter('job_seconds_total', 'Time that jobs ran on this server.', ['name']);
  const webhooks = counter('paypal_webhooks_total', 'Webhooks of PayPal by verdict.', ['verdict']);
  const inboundMails = counter('inbound_mails_total', 'Mails received by outcome.', ['outcome']);
  const databaseErrors = counter(
    'database_errors_total',
    'Failed statements by SQLSTATE class; connection is a lost or refused connection.',
    ['class'],
  );
  const announcements = counter('live_announcements_total', 'Announcements of changed days received.', ['kind']);
  const analyses = new Histogram({
    name: 'hustle_forge_analysis_seconds',
    help: 'Time of an analysis of the coach by outcome.',
    labelNames: ['kind', 'outcome'],
    buckets: ANALYSIS_BUCKETS_SECONDS,
    registers,
  });
  return {
    mail: (outcome) => mails.inc({ outcome }),
    text: (outcome) => texts.inc({ outcome }),
    signIn: (method) => signIns.inc({ method }),
    authError: (code) => authErrors.inc({ code }),
    jobScheduled: ({ name, everySeconds }) => jobPeriods.set({ name }, everySeconds),
    job({ name, succeeded, ms }) {
      jobRuns.inc({ name, outcome: succeeded ? 'succeeded' : 'failed' });
      jobSeconds.inc({ name }, ms / 1000);
    },
    analysis: ({ kind, outcome, ms }) => analyses.observe({ kind, outcome }, ms / 1000),
    webhook: (verdict) => webhooks.inc({ verdict }),
    inboundMail: (outcome) => inboundMails.inc({ outcome }),
    databaseError: (errorClass) => databaseErrors.inc({ class: errorClass }),
    announcement: (kind) => announcements.inc({ kind }),
  };
}

const ignore = (): void => undefined;

/** Counts nothing: for operator commands, and for tests of modules that report events. */
export const NO_EVENTS: EventCounters = {
  mail: ignore,
  text: ignore,
  signIn: ignore,
  authError: ignore,
  jobScheduled: ignore,
  job: ignore,
  analysis: ignore,
  webhook: ignore,
  inboundMail: ignore,
  databaseError: ignore,
  announcement: ignore,
};

// Reports the errors of a database's statements, for the metrics. The statements themselves are unchanged.

/** @param onError gets the class of the SQLSTATE (`23`: constraints), or `connection` */
export function observeDatabase(database: Database, onError: (errorClass: string) => void): Database {
  const report = (error: unknown): never => {
    const state = sqlStateOf(error);
    if (state !== null) onError(state.slice(0, 2));
    else if (isConnectionFailure(error)) onError('connection');
    throw error;
  };
  const observed = <As extends Statements>(statements: As): As =>
    ({
      run: (query: Parameters<Statements['run']>[0]) => statements.run(query).catch(report),
      statement: (text: string, values: readonly unknown[]) => statements.statement(text, values).catch(report),
    }) as Statements as As;
  return {
    ...database,
    asUser: (...whose) => observed<AsUser>(database.asUser(...whose)),
    asService: (reason) => observed<AsService>(database.asService(reason)),
    // An error inside a transaction ends it, so it is reported once, with the transaction.
    transactAsUser: (identity, work) => database.transactAsUser(identity, work).catch(report),
    transactAsService: (reason, work) => database.transactAsService(reason, work).catch(report),
  };
}
