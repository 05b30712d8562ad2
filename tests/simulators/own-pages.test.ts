/** Pages of other sites get nothing from the simulators, and change nothing there. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { ownPagesOnly } from '../../simulators/own-pages.ts';

const app = new Hono();
app.use(ownPagesOnly);
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
])('%s by %s from %s is answered with %i', async (address, method, site, status, origin) => {
  const headers = { ...(site !== undefined && { 'sec-fetch-site': site }), ...(origin !== undefined && { origin }) };
  expect((await app.request(address, { method, headers })).status).toBe(status);
});
