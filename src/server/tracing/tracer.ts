/**
 * A tracer over OpenTelemetry's SDK, loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set (docs/decisions/0043).
 *
 * The tracer is never registered globally: libraries that look for a global one (the AI SDK among them, which would
 * record prompts) find none.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { sqlStateOf } from '../database/database-error.ts';
import type { Logger } from '../log.ts';
import { PACKAGE_VERSION } from '../metrics/package-version.ts';
import { reportExports } from './report-exports.ts';
import type { TracingSettings } from './tracing-settings.ts';

const EXPORT_TIMEOUT_MS = 5_000;
/** At most this many spans, about 2 MB, wait for an unreachable collector. Further spans are dropped. */
const MAX_QUEUED_SPANS = 2_048;
const MAX_ATTRIBUTE_CHARS = 4_096;

export type SpanOptions = { kind: SpanKind; attributes?: Attributes; parent?: SpanContext | null };

export type Tracer = {
  start(name: string, options: SpanOptions): Span;
  /** Runs `work` in a new span, and ends the span with it. */
  run<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  current(): SpanContext | null;
  /** Exports the queued spans. */
  close(): Promise<void>;
};

export function createTracer({ url, headers, serviceName, ratio }: TracingSettings, log: Logger): Tracer {
  const collector = new OTLPTraceExporter({
    url: `${url}/v1/traces`,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const exporter = reportExports(collector, log);
  // Threat: a client marks all of its requests as sampled. The flag of a remote parent is ignored: the ratio and the trace
  // id decide. A client can still choose ids that the ratio admits.
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
export function markFailed(span: Span, error: unknown): void {
  const state = sqlStateOf(error);
  if (state !== null) span.setAttribute('db.response.status_code', state);
  span.setAttribute('error.type', state ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export { SpanKind };
