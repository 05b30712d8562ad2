/** Streams of one address, over HTTP, on a server that is full of streams. */
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import { streamChanges } from '#server/functions/read-days.ts';
import { DataError } from '#server/data/errors.ts';
import type { Database } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { listen } from '#server/http/listen.ts';
import { createChangeStreams } from '#server/functions/change-streams.ts';
import { createAdmission } from '#server/http/admission.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { createLog } from '#server/log.ts';
import { readChanges, type ChangesReader } from '../../support/read-changes.ts';

const MAX_STREAMS = 20;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server without a database. The token of a request is the id of its user. */
async function startServer() {
  const log = createLog('silent');
  const limiters = createLimiters();
  const changeStreams = createChangeStreams({
    database: {} as Database,
    clock: { now: () => new Date() },
    limiters: { ...limiters, createQuota: (name, _max, reclaim) => limiters.createQuota(name, MAX_STREAMS, reclaim) },
    log,
  });
  const accessTokens = {
    verify: async (sub: string) => ({ sub, role: 'authenticated', sessionId: null, exp: 0, aal: 'aal1', json: '{}' }),
  };
  const stream = streamChanges({ config: { publishableKey: '' }, accessTokens, changeStreams });
  const app = new Hono<AppEnv>().get('/functions/v1/changes', (context) => {
    const userId = context.req.header('authorization')!.slice('Bearer '.length);
    return stream(context, { userId, identity: { role: 'authenticated', claimsJson: '{}' } });
  });
  app.onError((error) => new Response(error.message, { status: error instanceof DataError ? error.status : 500 }));
  const admit = createAdmission({
    limiters,
    connections: limiters.createLimiter('database', { maxRunning: 16, maxQueued: 1_000 }),
    clientAddressHeader: 'X-Real-IP',
    log,
  });
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    headers: { api: [], page: [] },
    fetch: admit(app.fetch),
    limiters,
    isBehindProxy: true,
  });
  closers.push(() => Promise.all([changeStreams.stop(), server.stop()]));
  return {
    state: () => limiters.states().quotas.get('streams'),
    async open(userId: string, address: string): Promise<ChangesReader> {
      const reader = await readChanges(`http://127.0.0.1:${server.port}`, userId, { 'x-real-ip': address });
      closers.push(() => reader.close());
      return reader;
    },
    async openRead(userId: string, address: string): Promise<ChangesReader> {
      const reader = await this.open(userId, address);
      expect(await reader.next()).toMatchObject({ event: 'resync' });
      return reader;
    },
  };
}

test("newcomers get the streams that one address has above a tenth, its busiest user's first", async () => {
  const server = await startServer();
  const EARLY = '192.0.2.1';
  const neighbours = [];
  for (const user of ['one', 'two', 'three', 'four']) neighbours.push(await server.openRead(user, EARLY));
  const busy = [];
  for (let count = 0; count < 6; count += 1) busy.push(await server.openRead('busy', EARLY));
  for (let index = 0; index < 10; index += 1) await server.openRead(`other ${index % 5}`, `198.51.100.${index % 5}`);
  expect(server.state()).toEqual({ taken: 20, refused: 0, displaced: 0 });

  const ending = [...busy.slice(0, 5), ...neighbours.slice(0, 3)];
  for (const [index, reader] of ending.entries()) {
    await server.openRead(`newcomer ${index}`, `203.0.113.${index % 4}`);
    expect(await reader.next()).toMatchObject({ event: 'end', data: { reason: 'unavailable' } });
  }
  expect(server.state()).toEqual({ taken: 20, refused: 0, displaced: 8 });

  // The browsers of the ended streams displace nobody in turn, and nobody loses a tenth.
  expect((await server.open('busy', EARLY)).response.status).toBe(503);
  expect((await server.open('newcomer', '203.0.113.9')).response.status).toBe(503);
  expect(server.state()).toEqual({ taken: 20, refused: 2, displaced: 8 });
});
