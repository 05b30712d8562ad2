import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { reportExports } from './report-exports.ts';

test('logs one warning when exports begin to fail, and one line when they work again', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line).msg) });
  let error: Error | undefined;
  const collector: SpanExporter = {
    export: (_spans, done) => done(error ? { code: 1, error } : { code: 0 }),
    shutdown: async () => undefined,
  };
  const exporter = reportExports(collector, log);
  const results: (Error | undefined)[] = [];
  const exportSpans = () => exporter.export([], (result) => void results.push(result.error));
  exportSpans();
  expect(lines).toEqual([]);
  error = new Error('connect ECONNREFUSED');
  exportSpans();
  exportSpans();
  expect(lines).toEqual(['traces cannot be exported']);
  error = undefined;
  exportSpans();
  expect(lines).toEqual(['traces cannot be exported', 'traces are exported again']);
  expect(results.map((each) => each?.message)).toEqual([
    undefined,
    'connect ECONNREFUSED',
    'connect ECONNREFUSED',
    undefined,
  ]);
});
