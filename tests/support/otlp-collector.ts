/** A collector of OpenTelemetry traces: receives OTLP over HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/). */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type CollectedSpan = {
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
  failed: boolean;
};

type Attribute = { key: string; value: Record<string, unknown> };
type Export = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Omit<CollectedSpan, 'attributes' | 'failed'> & { attributes: Attribute[]; status?: { code?: number } })[];
    }[];
  }[];
};

export type OtlpCollector = {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The request bodies, unparsed. */
  readonly bodies: string[];
  readonly requests: { path: string; headers: IncomingHttpHeaders }[];
  readonly resource: Record<string, unknown>;
  close(): Promise<void>;
};

const toRecord = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const requests: OtlpCollector['requests'] = [];
  const resource: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      requests.push({ path: request.url ?? '', headers: request.headers });
      for (const { resource: own, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
        Object.assign(resource, toRecord(own.attributes));
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          const { name, kind, traceId, spanId, parentSpanId } = span;
          const shared = { name, kind, traceId, spanId, parentSpanId };
          spans.push({ ...shared, attributes: toRecord(span.attributes), failed: span.status?.code === 2 });
        }
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, bodies, requests, resource },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
