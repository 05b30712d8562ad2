/** Traces requests, statements, calls of providers, mails and jobs. Imported only when traces are on. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Span } from '@opentelemetry/api';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { isPrivateNetworkHost } from '../config/private-network.ts';
import type { AsService, AsUser, Database, Statements } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Job } from '../jobs/job.ts';
import type { Logger } from '../log.ts';
import type { FetchMessage } from '../metrics/provider-requests.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';
import { createTracer, markFailed, SpanKind, type Tracer } from './tracer.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** Probes, scrapes and static files: most of the requests, and no span of them explains anything. */
const UNTRACED_PATHS = /^\/(?:healthz|readyz|metrics|assets\/.*)$/;

export type Tracing = {
  request: MiddlewareHandler<AppEnv>;
  traceDatabase(database: Database): Database;
  traceJobs(jobs: readonly Job[]): Job[];
  /** Traces one attempt to hand a mail to the mail server of that host name. */
  traceMail<T>(host: string, work: () => Promise<T>): Promise<T>;
  /** Exports the queued spans. */
  stop(): Promise<void>;
};

export function startTracing(
  settings: TracingSettings,
  providerOf: (request: FetchMessage['request']) => string,
  log: Logger,
): Tracing {
  const tracer = createTracer(settings, log);
  const stopFetch = traceFetch(tracer, providerOf);
  return {
    request: traceRequests(tracer),
    traceDatabase: (database) => traceDatabase(database, tracer),
    traceJobs: (jobs) => jobs.map((job) => traceJob(job, tracer)),
    traceMail: (host, work) =>
      tracer.run(
        'SEND mail',
        { kind: SpanKind.CLIENT, attributes: { 'server.address': host, 'peer.service': 'mail' } },
        work,
      ),
    async stop() {
      stopFetch();
      await tracer.close();
    },
  };
}

/** A span has the route's pattern and no URL: paths and queries can contain tokens and ids. */
function traceRequests(tracer: Tracer): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    if (UNTRACED_PATHS.test(context.req.path)) return next();
    const { method } = context.req;
    const parent = parseTraceparent(context.req.header('traceparent'));
    await tracer.run(
      method,
      { kind: SpanKind.SERVER, parent, attributes: { 'http.request.method': method } },
      async (span) => {
        context.set('traceId', span.spanContext().traceId);
        await next();
        const route = context.get('route') ?? routePath(context);
        const { status } = context.res;
        span.updateName(`${method} ${route}`);
        span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
        if (status >= 500) markFailed(span, context.error ?? new Error());
      },
    );
  };
}

/** A span has the text of its statement. The values are parameters and stay out. */
function traceDatabase(database: Database, tracer: Tracer): Database {
  const inSpan = <T>(text: string, work: () => Promise<T>): Promise<T> => {
    const operation = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement';
    const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.text': text };
    return tracer.run(operation, { kind: SpanKind.CLIENT, attributes }, work);
  };
  const traced = <As extends Statements>(statements: As): As =>
    ({
      run: (query: Parameters<Statements['run']>[0]) => inSpan(query.compile().sql, () => statements.run(query)),
      statement: (text: string, values: readonly unknown[]) => inSpan(text, () => statements.statement(text, values)),
    }) as Statements as As;
  const transaction = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };
  return {
    ...database,
    asUser: (...whose) => traced<AsUser>(database.asUser(...whose)),
    asService: (reason) => traced<AsService>(database.asService(reason)),
    transactAsUser: (identity, work) =>
      tracer.run('transaction', transaction, () =>
        database.transactAsUser(identity, (statements) => work(traced(statements))),
      ),
    transactAsService: (reason, work) =>
      tracer.run('transaction', transaction, () =>
        database.transactAsService(reason, (statements) => work(traced(statements))),
      ),
  };
}

const traceJob = (job: Job, tracer: Tracer): Job => ({
  ...job,
  run: (signal) => tracer.run(`job ${job.name}`, { kind: SpanKind.INTERNAL }, () => job.run(signal)),
});

/**
 * Traces requests of Node's `fetch`. Only servers on a private network get `traceparent`: a third party could tell by it
 * which of its requests belong to one request of a user.
 */
function traceFetch(tracer: Tracer, providerOf: (request: FetchMessage['request']) => string): () => void {
  const spans = new WeakMap<object, Span>();
  const onCreate = (message: unknown): void => {
    const { request } = message as FetchMessage;
    // This `fetch` belongs to no traced request or job, or to another server in this process.
    if (tracer.current() === null) return;
    const provider = providerOf(request);
    const { hostname } = new URL(String(request.origin));
    const span = tracer.start(`${request.method} ${provider}`, {
      kind: SpanKind.CLIENT,
      attributes: { 'http.request.method': request.method, 'server.address': hostname, 'peer.service': provider },
    });
    spans.set(request, span);
    if (isPrivateNetworkHost(hostname)) request.addHeader('traceparent', formatTraceparent(span.spanContext()));
  };
  const onHeaders = (message: unknown): void => {
    const { request, response } = message as FetchMessage;
    const span = spans.get(request);
    span?.setAttribute('http.response.status_code', response!.statusCode);
    if (span && response!.statusCode >= 500) markFailed(span, new Error());
  };
  const onTrailers = (message: unknown): void => spans.get((message as FetchMessage).request)?.end();
  const onError = (message: unknown): void => {
    const { request, error } = message as FetchMessage;
    const span = spans.get(request);
    if (!span) return;
    markFailed(span, error);
    span.end();
  };
  const channels = [
    ['undici:request:create', onCreate],
    ['undici:request:headers', onHeaders],
    ['undici:request:trailers', onTrailers],
    ['undici:request:error', onError],
  ] as const;
  for (const [channel, listener] of channels) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of channels) unsubscribe(channel, listener);
  };
}
