/** Tests which servers are sent a `traceparent`. tests/api/traces.test.ts tests the traces themselves. */
import { channel } from 'node:diagnostics_channel';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPrivateNetworkHost } from './config/private-network.ts';
import type { AppEnv } from './http/app-env.ts';
import { createLog } from './log.ts';
import { startTracing, formatTraceparent, parseTraceparent, reportExports, type Tracing } from './tracing.ts';

let provider: Server;
let tracing: Tracing;
const received: IncomingHttpHeaders[] = [];
let port: number;

beforeAll(async () => {
  provider = createServer((request, response) => {
    received.push(request.headers);
    response.end();
  });
  await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve));
  ({ port } = provider.address() as AddressInfo);
  // No collector listens at this address, so the spans are dropped.
  const settings = { url: 'http://127.0.0.1:9', headers: new Map(), serviceName: 'test', ratio: 1 };
  tracing = startTracing(settings, () => 'model', createLog('silent'));
});
afterAll(async () => {
  await tracing.stop().catch(() => undefined);
  provider.close();
});

const askWithin = (url: string, headers: Record<string, string> = {}) =>
  new Hono<AppEnv>()
    .use(tracing.request)
    .get('/ask', async (context) => {
      await (await fetch(url)).text();
      return context.text('');
    })
    .request('/ask', { headers });

test('sends the trace of the request to a server on a private network', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await askWithin(`http://127.0.0.1:${port}/`, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  expect(received.at(-1)!['traceparent']).toMatch(new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
});

test('a third party gets nothing of the trace', async () => {
  const added: Record<string, string> = {};
  const origin = 'https://api.example.com';
  await new Hono<AppEnv>()
    .use(tracing.request)
    .get('/ask', (context) => {
      const request = {
        origin,
        method: 'POST',
        path: '/',
        addHeader: (name: string, value: string) => void (added[name] = value),
      };
      // Undici publishes these messages for a request.
      channel('undici:request:create').publish({ request });
      channel('undici:request:trailers').publish({ request });
      return context.text('');
    })
    .request('/ask');
  expect(isPrivateNetworkHost(new URL(origin).hostname)).toBe(false);
  expect(added).toEqual({});
});

test('a request outside of any trace is left alone', async () => {
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(received.at(-1)!['traceparent']).toBeUndefined();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  [`00-${TRACE}-${SPAN}-01`, 1],
  [`00-${TRACE}-${SPAN}-00`, 0],
  [`00-${TRACE}-${SPAN}-03`, 1],
  [`01-${TRACE}-${SPAN}-01-more`, 1],
])('reads %s', (header, traceFlags) => {
  const context = parseTraceparent(header);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true });
  expect(formatTraceparent(context!)).toBe(`00-${TRACE}-${SPAN}-0${traceFlags}`);
});

test.each([
  undefined,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
  `x00-${TRACE}-${SPAN}-01`,
])('ignores %j', (header) => {
  expect(parseTraceparent(header)).toBeNull();
});

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
