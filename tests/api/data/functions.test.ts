import { FunctionsHttpError } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { firstDayOf } from '#domain/plan/review-period.ts';
import type { AsService, AsUser } from '#server/database/database.ts';
import { startDataWorld, today } from './world.ts';
import type { DataWorld } from './world.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  await world.close();
});

test('supabase-js gets the words of a refusal', async () => {
  const { data, error } = await world.ana.client.functions.invoke('paypal-create-order', { body: { amount: 24 } });
  expect(data).toBeNull();
  expect(error).toBeInstanceOf(FunctionsHttpError);
  const response = (error as FunctionsHttpError).context as Response;
  expect(response.status).toBe(403);
  expect(await response.json()).toEqual({ success: false, error: expect.any(String) });
});

test('a guest and a bad token are asked to sign in', async () => {
  for (const headers of [{}, { authorization: 'Bearer x.y.z' }]) {
    const answer = await world.ask(null, 'POST', '/functions/v1/paypal-create-order', { body: {}, headers });
    expect(answer).toMatchObject({ status: 401, json: { success: false, error: expect.any(String) } });
  }
});

test('an unknown function, and another verb', async () => {
  const path = '/functions/v1/nope';
  expect(await world.ask(world.ana, 'POST', path)).toMatchObject({
    status: 404,
    json: { code: 'NOT_FOUND', message: expect.any(String) },
  });
  expect((await world.ask(world.ana, 'GET', '/functions/v1/paypal-create-order')).status).toBe(405);
});

const CALLS = [
  ['paypal-create-order', (id: string) => ({ amount: 24, currency: 'USD', user_id: id })],
  ['paypal-capture-order', (id: string) => ({ order_id: '5O190127TN364715T', user_id: id })],
  ['find-entries', () => ({ query: 'needle' })],
  ['import-entries', () => ({ entries: [{ date: today(), content: '<p>Words</p>' }] })],
  ['record-export', () => ({})],
  ['ai-feedback', () => ({ date: today() })],
  ['trend-analysis', () => ({ period: '7-day', from: firstDayOf('7-day', today()), to: today() })],
] as const;

/** As the driver says it when every connection is taken for ten seconds. */
const TAKEN = new Error('timeout exceeded when trying to connect');

test.each(CALLS)('%s asks to come back while no connection to the database is free', async (name, bodyOf) => {
  const { database } = world.server;
  const call = () => world.ask(world.cleo, 'POST', `/functions/v1/${name}`, { body: bodyOf(world.cleo.id) });
  // Who asks is known from now on without the database.
  await call();
  const { errorsLogged } = world;
  const before = errorsLogged.splice(0);
  for (const way of ['transactAsUser', 'transactAsService'] as const) vi.spyOn(database, way).mockRejectedValue(TAKEN);
  const none = { run: () => Promise.reject(TAKEN), statement: () => Promise.reject(TAKEN) };
  vi.spyOn(database, 'asUser').mockReturnValue(none as unknown as AsUser);
  vi.spyOn(database, 'asService').mockReturnValue(none as unknown as AsService);
  const answer = await call();
  vi.restoreAllMocks();
  expect(answer).toMatchObject({ status: 503, json: { success: false, error: expect.stringContaining('try again') } });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(errorsLogged).toHaveLength(1);
  errorsLogged.splice(0, Infinity, ...before);
});
