import { FunctionsHttpError } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDataWorld } from './data-world.ts';
import type { DataWorld } from './data-world.ts';

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
