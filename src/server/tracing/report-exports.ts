import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '#server/log.ts';

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
