/** Tests what belongs to no single API of the app: health, unknown paths, oversized bodies, log privacy. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { setUpWorld } from '../support/set-up.ts';
import { startTestServer } from '../support/start-server.ts';

const server = setUpWorld(() => startTestServer({ pages: 'on', logTo: { write: (line) => void logLines.push(line) } }));
const logLines: string[] = [];

const request = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(server.url + path, { redirect: 'manual', ...init });

test('serves liveness, readiness and metrics', async () => {
  expect(await (await request('/healthz')).json()).toEqual({ status: 'up' });
  expect(await (await request('/readyz')).json()).toEqual({ status: 'ready' });
  const metrics = await (await request('/metrics')).text();
  expect(metrics).toMatch(/^hustle_forge_request_seconds_count\{method="GET",route="\/readyz",status="200"\} 1$/m);
  expect(metrics).toMatch(/^process_resident_memory_bytes \d+$/m);
});

test.each(['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Real-IP', 'Forwarded', 'Via'])(
  '/metrics rejects a request that a proxy forwarded (%s)',
  async (header) => {
    expect((await request('/metrics', { headers: { [header]: 'for=203.0.113.9' } })).status).toBe(404);
  },
);

test('/metrics checks the address of the header that CLIENT_ADDRESS_HEADER names', async () => {
  const behindProxy = await startTestServer({ settings: { CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' } });
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  expect((await fetch(`${behindProxy.url}/metrics`, { headers })).status).toBe(404);
  const local = { 'x-forwarded-for': '127.0.0.1' };
  expect((await fetch(`${behindProxy.url}/metrics`, { headers: local })).status).toBe(200);
  await behindProxy.close();
});

test.each(['/no-such-page', '/dashboard', '/journal/2026', '/old.html'])('%s redirects to /', async (path) => {
  const response = await request(path, { headers: { accept: 'text/html' } });
  expect([response.status, response.headers.get('location')]).toEqual([302, '/']);
});

test('redirects only pages under another host name to PUBLIC_URL', async () => {
  const other = server.url.replace('localhost', '127.0.0.1');
  const at = (path: string, method = 'GET') => fetch(other + path, { redirect: 'manual', method });
  for (const method of ['GET', 'HEAD']) {
    const page = await at('/reset-password?token_hash=a%2Fb&type=recovery', method);
    expect([page.status, page.headers.get('location'), page.headers.get('cache-control')]).toEqual([
      302,
      `${server.url}/reset-password?token_hash=a%2Fb&type=recovery`,
      'no-store',
    ]);
  }
  for (const path of ['/healthz', '/readyz', '/metrics', '/config.json', '/favicon.svg', '/auth/v1/settings']) {
    expect([path, (await at(path)).status]).toEqual([path, 200]);
  }
  expect((await at('/rest/v1/entries')).status).not.toBe(302);
  expect((await request('/reset-password')).status).toBe(200);
});

test.each([
  ['GET', '/assets/missing.js'],
  ['GET', '/missing.png'],
  ['POST', '/no-such-page'],
  ['GET', '/sandbox'],
  ['GET', '/rest/v2/entries'],
])('%s %s returns a JSON 404', async (method, path) => {
  const response = await request(path, { method });
  expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
});

test.each([
  ['/realtime/v1/websocket', 'not_found'],
  ['/realtime/v1', 'not_found'],
  ['/storage/v1/bucket', 'not_found'],
  ['/graphql/v1', 'not_found'],
  ['/auth/v1', 'not_found'],
  ['/auth/v1/oauth/clients', 'not_found'],
  ['/auth/v1/admin/oauth/clients', 'not_found'],
  ['/rest/v1', 'PGRST125'],
  ['/rest/v1/nope', 'PGRST205'],
  ['/rest/v1/nope/deeper', 'PGRST125'],
  ['/rest/v1/rpc/nope', 'PGRST202'],
  ['/functions/v1', 'NOT_FOUND'],
  ['/functions/v1/nope', 'NOT_FOUND'],
  ['/functions/v1/nope/deeper', 'NOT_FOUND'],
])('%s returns a JSON 404 with code %s for every method and Accept header', async (path, code) => {
  for (const method of ['GET', 'POST']) {
    for (const accept of ['*/*', 'text/html']) {
      const response = await request(path, { method, headers: { accept, 'x-supabase-api-version': '2024-01-01' } });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toMatchObject({ code, message: expect.any(String) });
    }
  }
});

test.each([
  ['POST', '/healthz', 'GET, HEAD'],
  ['DELETE', '/readyz', 'GET, HEAD'],
  ['PUT', '/config.json', 'GET, HEAD'],
  ['POST', '/', 'GET, HEAD'],
  ['PATCH', '/journal', 'GET, HEAD'],
  ['POST', '/manifest.webmanifest', 'GET, HEAD'],
  ['GET', '/functions/v1/paypal-webhook', 'POST'],
  ['GET', '/functions/v1/find-entries', 'POST'],
  ['POST', '/functions/v1/changes', 'GET'],
])('%s %s is 405 and allows %s', async (method, path, allowed) => {
  const response = await request(path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
  expect(await response.json()).toMatchObject({ code: expect.any(String), message: expect.any(String) });
});

test('opens a page again for a form that a browser has sent without script', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8' };
  const body = new URLSearchParams({ email: 'ana@example.com', password: 'secret' });
  const response = await request('/login?next=/journal', { method: 'POST', headers, body, redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([303, '/login']);
});

test('rejects an oversized body with 413', async () => {
  const response = await request('/rest/v1/entries', { method: 'POST', body: 'x'.repeat(3 * 1024 * 1024) });
  expect(response.status).toBe(413);
});

test('rejects an unknown Host with 421, which prevents DNS rebinding', async () => {
  // A raw socket, because fetch sets Host itself.
  const socket = connect(server.config.port, '127.0.0.1');
  socket.end('GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  const parts = (await socket.toArray()) as Buffer[];
  expect(Buffer.concat(parts).toString()).toMatch(/^HTTP\/1\.1 421 /);
});

test('logs a line per request without address, token, text or query', async () => {
  const email = 'private.person@example.com';
  const password = 'a very private password';
  const signedUp = await request('/auth/v1/signup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { access_token: token } = (await signedUp.json()) as { access_token: string };
  await request('/rest/v1/entries?select=date&content_text=eq.private-thought', {
    headers: { authorization: `Bearer ${token}` },
  });
  const log = logLines.join('');
  expect(log).toContain('"route":"/auth/v1/signup"');
  expect(log).toContain('"userId":"');
  for (const secret of [email, password, token, 'private-thought']) expect(log).not.toContain(secret);
});
