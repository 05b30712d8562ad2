/** Tests the traces that a server sends to a collector when OTEL_EXPORTER_OTLP_ENDPOINT is set. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startOtlpCollector, type CollectedSpan, type OtlpCollector } from '../support/otlp-collector.ts';
import { startTestServer, type TestServer } from '../support/start-server.ts';
import { openStream } from './coach/fixture.ts';
import { request, signUp, today, type Person } from './data/fixture.ts';

const SECRET_TEXT = 'a line that nobody else may read';
const [SERVER, CLIENT, INTERNAL] = [2, 3, 1];
const REMOTE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

let collector: OtlpCollector;
let server: TestServer;
let tess: Person;
const lines: string[] = [];

/** Does all of the traced work, then stops the server, which sends its last spans. */
beforeAll(async () => {
  collector = await startOtlpCollector();
  server = await startTestServer({
    jobs: 'on',
    logTo: { write: (line) => void lines.push(line) },
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=key%20of%20the%20test',
      OTEL_SERVICE_NAME: 'journal-of-the-test',
    },
  });
  tess = await signUp(server, 'tess-traced');
  await server.admin.query(
    `update public.profiles set subscription_plan = 'premium', ai_consent = true where id = $1`,
    [tess.id],
  );
  const row = { user_id: tess.id, date: today(), content: `<ol><li><p>${SECRET_TEXT}</p></li></ol>` };
  const headers = { traceparent: `00-${REMOTE.traceId}-${REMOTE.spanId}-00` };
  await request(server, tess, 'POST', '/rest/v1/entries', { body: row, headers });
  await request(server, tess, 'POST', '/rest/v1/entries', { body: row });
  await request(server, null, 'GET', '/readyz');
  await tess.client.auth.resetPasswordForEmail('tess-traced@example.com');
  const { events } = await openStream(server, tess, 'ai-feedback', { date: today() });
  for await (const event of events!) expect(event.event).not.toBe('problem');
  const hasRunJob = () => expect(lines.join('')).toContain('"job":"expire-plans"');
  await vi.waitFor(hasRunJob, { timeout: 15_000 });
  await server.close();
});
afterAll(() => collector.close());

const spansOf = (name: string): CollectedSpan[] => collector.spans.filter((span) => span.name === name);
const childrenOf = ({ spanId }: CollectedSpan): CollectedSpan[] =>
  collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId);

test('the server sends traces to the address of the setting, with its headers and the name of the service', () => {
  expect(collector.requests.length).toBeGreaterThan(0);
  for (const { path, headers } of collector.requests)
    expect([path, headers['x-api-key'], headers['content-type']]).toEqual([
      '/v1/traces',
      'key of the test',
      'application/json',
    ]);
  expect(collector.resource).toMatchObject({ 'service.name': 'journal-of-the-test', 'service.version': '0.1.0' });
});

test("a request continues the caller's trace, and is traced although the caller did not sample it", () => {
  const [save] = spansOf('POST /rest/v1/entries');
  expect(save).toMatchObject({ kind: SERVER, traceId: REMOTE.traceId, parentSpanId: REMOTE.spanId, failed: false });
  expect(save!.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/rest/v1/entries',
    'http.response.status_code': 201,
  });
  expect(lines.some((line) => line.includes(`"traceId":"${REMOTE.traceId}"`))).toBe(true);
});

test('each statement has a span with its text and without its values', () => {
  const [save] = spansOf('POST /rest/v1/entries');
  const insert = childrenOf(save!).find(({ attributes }) =>
    attributes['db.query.text']?.toString().includes('insert into'),
  );
  expect(insert).toMatchObject({ kind: CLIENT, traceId: REMOTE.traceId });
  expect(insert!.attributes).toMatchObject({ 'db.system.name': 'postgresql' });
});

test('the span of a failed statement has its SQLSTATE and no message', () => {
  const [, repeated] = spansOf('POST /rest/v1/entries');
  const failed = childrenOf(repeated!).find((span) => span.failed);
  expect(failed?.attributes).toMatchObject({ 'db.response.status_code': '23505', 'error.type': '23505' });
});

test('each request to a provider has a span below the request that causes it', () => {
  const [model] = spansOf('POST model');
  expect(model).toMatchObject({ kind: CLIENT });
  expect(model!.attributes).toMatchObject({ 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
  const [feedback] = spansOf('POST /functions/v1/ai-feedback');
  expect(model!.traceId).toBe(feedback!.traceId);
});

test('each mail has a span below the request that causes it', () => {
  const [mail] = spansOf('SEND mail');
  expect(mail).toMatchObject({ kind: CLIENT, failed: false });
  expect(mail!.attributes).toEqual({ 'server.address': '127.0.0.1', 'peer.service': 'mail' });
  const [recovery] = spansOf('POST /auth/v1/recover');
  expect(mail).toMatchObject({ traceId: recovery!.traceId, parentSpanId: recovery!.spanId });
});

test('each run of a job has a span, above those of its statements', () => {
  const [job] = spansOf('job expire-plans');
  expect(job).toMatchObject({ kind: INTERNAL });
  expect(childrenOf(job!).length).toBeGreaterThan(0);
});

test('a readiness check has no span', () => {
  expect(collector.spans.filter(({ attributes }) => attributes['http.route'] === '/readyz')).toEqual([]);
});

test('traces contain no text, address, token or id of a user', () => {
  const sent = collector.bodies.join('');
  expect(sent).toContain('insert into');
  for (const secret of [SECRET_TEXT, 'tess-traced', tess.id, tess.token, tess.token.split('.')[2]!])
    expect(sent).not.toContain(secret);
});
