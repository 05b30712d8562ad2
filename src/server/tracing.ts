/** Traces requests, statements, calls of providers, mails and jobs. Imported only when traces are on. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
  type Attributes,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
  TraceIdRatioBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { isPrivateNetworkHost } from './config/private-network.ts';
import type { TracingSettings } from './config/provider-settings.ts';
import { sqlStateOf } from './database/database-error.ts';
import type { AsService, AsUser, Database, Statements } from './database/database.ts';
import type { AppEnv } from './http/app-env.ts';
import type { Logger } from './log.ts';
import type { FetchMessage } from './metrics/provider-requests.ts';
import { PACKAGE_VERSION } from './package-version.ts';

/** Probes, scrapes and static files: they are frequent, and their spans explain nothing. */
const UNTRACED_PATHS = /^\/(?:healthz|readyz|metrics|assets\/.*)$/;

/** The part of a job (`jobs/job.ts`) that a trace uses. */
type TracedJob = { readonly name: string; run(signal: AbortSignal): Promise<Readonly<Record<string, number>>> };

export type Tracing = {
  request: MiddlewareHandler<AppEnv>;
  traceDatabase(database: Database): Database;
  traceJobs<Job extends TracedJob>(jobs: readonly Job[]): Job[];
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

const traceJob = <Job extends TracedJob>(job: Job, tracer: Tracer): Job => ({
  ...job,
  run: (signal) => tracer.run(`job ${job.name}`, { kind: SpanKind.INTERNAL }, () => job.run(signal)),
});

/**
 * Traces requests of Node's `fetch`. Only servers on a private network get `traceparent`: a third party could tell by
 * it which of its requests belong to one request of a user.
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

const EXPORT_TIMEOUT_MS = 5_000;
/** At most this many spans, about 2 MB, wait for an unreachable collector. Further spans are dropped. */
const MAX_QUEUED_SPANS = 2_048;
const MAX_ATTRIBUTE_CHARS = 4_096;

type SpanOptions = { kind: SpanKind; attributes?: Attributes; parent?: SpanContext | null };

type Tracer = {
  start(name: string, options: SpanOptions): Span;
  /** Runs `work` in a new span, and ends the span with it. */
  run<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  current(): SpanContext | null;
  /** Exports the queued spans. */
  close(): Promise<void>;
};

/**
 * A tracer over OpenTelemetry's SDK, loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set (docs/decisions/0043).
 *
 * The tracer is never registered globally: libraries that look for a global one (the AI SDK among them, which would
 * record prompts) find none.
 */
function createTracer({ url, headers, serviceName, ratio }: TracingSettings, log: Logger): Tracer {
  const collector = new OTLPTraceExporter({
    url: `${url}/v1/traces`,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const exporter = reportExports(collector, log);
  // Threat: a client marks all of its requests as sampled. The flag of a remote parent is ignored: the ratio and the
  // trace id decide. A client can still choose ids that the ratio admits.
  const root = new TraceIdRatioBasedSampler(ratio);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': PACKAGE_VERSION }),
    sampler: new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root }),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARS },
    spanProcessors: [
      new BatchSpanProcessor({ exporter, maxQueueSize: MAX_QUEUED_SPANS, exportTimeoutMillis: EXPORT_TIMEOUT_MS }),
    ],
  });
  const tracer = provider.getTracer('hustle-forge', PACKAGE_VERSION);
  const active = new AsyncLocalStorage<Span>();

  function start(name: string, { kind, attributes = {}, parent }: SpanOptions): Span {
    const current = active.getStore();
    const context = parent
      ? trace.setSpanContext(ROOT_CONTEXT, parent)
      : current
        ? trace.setSpan(ROOT_CONTEXT, current)
        : ROOT_CONTEXT;
    return tracer.startSpan(name, { kind, attributes }, context);
  }

  return {
    start,
    async run(name, options, work) {
      const span = start(name, options);
      try {
        return await active.run(span, () => work(span));
      } catch (error) {
        markFailed(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
    current: () => active.getStore()?.spanContext() ?? null,
    close: () => provider.shutdown(),
  };
}

/** Records the kind of an error, never its message: a message of PostgreSQL can quote a row. */
function markFailed(span: Span, error: unknown): void {
  const state = sqlStateOf(error);
  if (state !== null) span.setAttribute('db.response.status_code', state);
  span.setAttribute('error.type', state ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export { SpanKind };

const TRACEPARENT = /^[\da-f]{2}-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?:-.*)?$/;
const INVALID = /^(?:ff-|[\da-f]{2}-0{32}-|[\da-f]{2}-[\da-f]{32}-0{16}-)/;

/** The header `traceparent` (https://www.w3.org/TR/trace-context/). */
export function parseTraceparent(header: string | undefined): SpanContext | null {
  if (header === undefined || INVALID.test(header)) return null;
  const { traceId, spanId, flags } = TRACEPARENT.exec(header)?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

/** Logs once when exports begin to fail and once when they work again. The SDK drops failed spans without a word. */
export function reportExports(exporter: SpanExporter, log: Pick<Logger, 'warn' | 'info'>): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error && !isFailing) log.warn({ reason: error.message }, 'traces cannot be exported');
        if (!error && isFailing) log.info('traces are exported again');
        isFailing = error !== undefined;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
