import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { originGuard } from '../../simulators/host.ts';

const app = new Hono();
app.use(originGuard);
app.all('/*', (context) => context.text('done'));

test.each<[string, string, string | undefined, number, string?]>([
  ['http://127.0.0.1:4000/sandbox', 'GET', undefined, 200],
  ['http://localhost:4000/sandbox/__simulator/reset', 'POST', undefined, 200],
  ['http://localhost:4000/sandbox/paypal/checkoutnow', 'POST', 'same-origin', 200],
  ['http://localhost:4000/sandbox/paypal/checkoutnow', 'GET', 'cross-site', 200],
  ['http://localhost:4000/sandbox/__simulator/reset', 'POST', 'cross-site', 403],
  ['http://localhost:4000/sandbox/mail/messages', 'DELETE', 'cross-site', 403],
  ['http://localhost:4000/sandbox/paypal/checkoutnow', 'POST', undefined, 200, 'http://localhost:3000'],
  ['http://localhost:4000/sandbox/__simulator/reset', 'POST', undefined, 403, 'https://evil.example'],
  ['http://localhost:4000/sandbox/__simulator/reset', 'POST', undefined, 403, 'http://localhost.evil.example'],
  ['http://localhost:4000/sandbox/__simulator/reset', 'POST', 'none', 403, 'null'],
  ['http://rebound.example:4000/sandbox/mail/messages', 'GET', 'same-origin', 421],
])('responds to %s with method %s and fetch site %s with status %i', async (address, method, site, status, origin) => {
  const headers = { ...(site !== undefined && { 'sec-fetch-site': site }), ...(origin !== undefined && { origin }) };
  expect((await app.request(address, { method, headers })).status).toBe(status);
});
