import { FunctionsHttpError } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { firstDayOf } from '#domain/plan/review-period.ts';
import type { AsService, AsUser } from '#server/database/database.ts';
import { GET_FUNCTIONS, listFunctions } from '#server/functions/routes.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { startDataWorld, today, type DataWorld } from './fixture.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  await world.close();
});

test('no cache may keep an answer, also a refusal', async () => {
  const names = listFunctions({ ...world.server, limiters: createLimiters(), payments: null, coach: null } as never);
  for (const name of [...names.keys(), 'nope'].filter((each) => !GET_FUNCTIONS.has(each)))
    for (const person of [world.ana, null]) {
      const { headers } = await world.request(person, 'POST', `/functions/v1/${name}`, { body: {} });
      expect(headers.get('cache-control'), name).toBe('no-store');
    }
});

test('supabase-js receives the message of a rejection', async () => {
  const { data, error } = await world.ana.client.functions.invoke('paypal-create-order', { body: { amount: 24 } });
  expect(data).toBeNull();
  expect(error).toBeInstanceOf(FunctionsHttpError);
  const response = (error as FunctionsHttpError).context as Response;
  expect(response.status).toBe(403);
  expect(await response.json()).toEqual({ success: false, error: expect.any(String) });
});

test('rejects a guest and an invalid token with 401', async () => {
  for (const headers of [{}, { authorization: 'Bearer x.y.z' }]) {
    const response = await world.request(null, 'POST', '/functions/v1/paypal-create-order', { body: {}, headers });
    expect(response).toMatchObject({ status: 401, json: { success: false, error: expect.any(String) } });
  }
});

test('rejects an unknown function with 404 and another method with 405', async () => {
  const path = '/functions/v1/nope';
  expect(await world.request(world.ana, 'POST', path)).toMatchObject({
    status: 404,
    json: { code: 'NOT_FOUND', message: expect.any(String) },
  });
  expect((await world.request(world.ana, 'GET', '/functions/v1/paypal-create-order')).status).toBe(405);
});

const CALLS = [
  ['paypal-create-order', (id: string) => ({ amount: 24, currency: 'USD', user_id: id })],
  ['paypal-capture-order', (id: string) => ({ order_id: '5O190127TN364715T', user_id: id })],
  ['append-item', () => ({ text: 'Words', date: today() })],
  ['find-entries', () => ({ query: 'needle' })],
  ['year-summary', () => ({ year: today().slice(0, 4) })],
  ['import-entries', () => ({ entries: [{ date: today(), content: '<p>Words</p>' }] })],
  ['record-export', () => ({})],
  ['ai-feedback', () => ({ date: today() })],
  ['trend-analysis', () => ({ period: '7-day', from: firstDayOf('7-day', today()), to: today() })],
] as const;

/** The driver's error when all connections are in use for ten seconds. */
const POOL_TIMEOUT = new Error('timeout exceeded when trying to connect');

test.each(CALLS)('%s responds 503 with Retry-After while the connection pool is exhausted', async (name, bodyOf) => {
  const { database } = world.server;
  const call = () => world.request(world.cleo, 'POST', `/functions/v1/${name}`, { body: bodyOf(world.cleo.id) });
  // Caches the session, so that authentication needs no database afterwards.
  await call();
  const { errorsLogged } = world;
  const before = errorsLogged.splice(0);
  for (const method of ['transactAsUser', 'transactAsService'] as const)
    vi.spyOn(database, method).mockRejectedValue(POOL_TIMEOUT);
  const failing = { run: () => Promise.reject(POOL_TIMEOUT), statement: () => Promise.reject(POOL_TIMEOUT) };
  vi.spyOn(database, 'asUser').mockReturnValue(failing as unknown as AsUser);
  vi.spyOn(database, 'asService').mockReturnValue(failing as unknown as AsService);
  const response = await call();
  vi.restoreAllMocks();
  expect(response).toMatchObject({
    status: 503,
    json: { success: false, error: expect.stringContaining('try again') },
  });
  expect(response.headers.get('retry-after')).toBe('1');
  expect(errorsLogged).toHaveLength(1);
  errorsLogged.splice(0, Infinity, ...before);
});
