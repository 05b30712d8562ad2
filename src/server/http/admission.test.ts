import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAdmission } from './admission.ts';
import {
  BusyError,
  currentRequestContext,
  holdBody,
  identifyUser,
  type RequestContext,
} from '../load/request-context.ts';
import { createLimiters } from '../load/limiters.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

type Sent = { url?: string; remoteAddress?: string; headers?: Record<string, string>; outgoing?: EventEmitter };

function createWorld({ clientAddressHeader = null as string | null, isDatabaseFull = false } = {}) {
  const limiters = createLimiters();
  const warnings: unknown[] = [];
  const database = { queued: 0 };
  const admit = createAdmission({
    limiters,
    connections: {
      refuseIfFull() {
        if (isDatabaseFull) throw new BusyError('queue_full');
      },
      state: () => ({ running: 0, queued: database.queued, refused: { queue_full: 0, displaced: 0, timeout: 0 } }),
    },
    clientAddressHeader,
    log: { warn: (...line: unknown[]) => void warnings.push(line) } as never,
  });
  const send = async (
    answer: () => Response | Promise<Response>,
    { url = '/rest/v1/entries', remoteAddress = '203.0.113.1', headers = {}, outgoing = new EventEmitter() }: Sent = {},
  ): Promise<Response> => {
    const incoming = { url, headers, socket: { remoteAddress } } as unknown as IncomingMessage;
    const request = { url: new URL(url, 'http://localhost').href } as Request;
    return (await admit(answer)(request, { incoming, outgoing } as never)) as Response;
  };
  return { send, database, limiters, warnings };
}

const ok = () => new Response('done');

test('a request carries its network and, once authenticated, its user', async () => {
  const { send } = createWorld({ clientAddressHeader: 'X-Real-IP' });
  const seen: RequestContext[] = [];
  const readClients = async () => {
    identifyUser('ana');
    await Promise.resolve();
    seen.push({ ...currentRequestContext() });
    return ok();
  };
  await send(readClients, { headers: { 'x-real-ip': '2001:db8:1:2:3::4' } });
  await send(readClients);
  expect(seen).toMatchObject([
    { address: '2001:db8:1:2', userId: 'ana' },
    { address: '203.0.113.1', userId: 'ana' },
  ]);
  expect(currentRequestContext()).toMatchObject({ address: 'server', userId: null });
});

describe('while the queue of the database is full', () => {
  const isRefused = async (options: { url?: string; headers?: Record<string, string> }): Promise<Response> => {
    const { send } = createWorld({ isDatabaseFull: true });
    const handle = vi.fn<() => Response>(ok);
    let answered: Response | null = null;
    const sending = send(handle, options).then((response) => (answered = response));
    await vi.advanceTimersByTimeAsync(200);
    expect(answered, 'the answer is delayed').toBeNull();
    await vi.advanceTimersByTimeAsync(1_100);
    await sending;
    expect(handle).not.toHaveBeenCalled();
    return answered!;
  };

  test.each(['/rest/v1/entries?select=*', '/auth/v1/token', '/functions/v1/changes', '/assets/x.js'])(
    'refuses %s in the format of all clients, before any route sees it',
    async (url) => {
      const response = await isRefused({ url, headers: { accept: '*/*' } });
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ code: 'busy', message: expect.stringContaining('busy') });
    },
  );

  test('answers the request of a page with a text that reloads itself', async () => {
    const response = await isRefused({ url: '/journal', headers: { accept: 'text/html,*/*' } });
    expect([response.status, response.headers.get('cache-control')]).toEqual([503, 'no-store']);
    expect(await response.text()).toMatch(/http-equiv="refresh" content="[1-3]".*tries again in a few seconds/);
  });

  test.each(['/healthz', '/readyz', '/metrics'])('still answers %s', async (url) => {
    const { send } = createWorld({ isDatabaseFull: true });
    expect((await send(ok, { url })).status).toBe(200);
  });

  test('warns the operator once in ten seconds', async () => {
    const { send, warnings } = createWorld({ isDatabaseFull: true });
    const sending = Promise.all([send(ok), send(ok)]);
    await vi.advanceTimersByTimeAsync(2_000);
    await sending;
    expect(warnings).toHaveLength(1);
  });
});

test('begins a few requests in each turn of the event loop, and those of another client first', async () => {
  const { send } = createWorld();
  const begun: string[] = [];
  const recordBegin = (from: string) => () => (begun.push(from), ok());
  const flood = Array.from({ length: 100 }, () => send(recordBegin('flood')));
  const other = send(recordBegin('other'), { remoteAddress: '203.0.113.2' });
  expect(begun).toHaveLength(16);
  await setImmediate();
  await setImmediate();
  expect(begun.indexOf('other')).toBe(16);
  await Promise.all([...flood, other]);
  expect(begun).toHaveLength(101);
});

test('begins no request of an API while many wait for the database, but pages', async () => {
  const { send, database } = createWorld();
  database.queued = 201;
  const begun: string[] = [];
  const recordBegin = (what: string) => () => (begun.push(what), ok());
  const requests = Array.from({ length: 17 }, () => send(recordBegin('request')));
  const pages = Array.from({ length: 17 }, () => send(recordBegin('page'), { url: '/journal' }));
  await Promise.all(pages);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun.filter((what) => what === 'request')).toHaveLength(16);
  database.queued = 200;
  await vi.advanceTimersByTimeAsync(2);
  await Promise.all(requests);
});

test.each([
  '/%72est/v1/entries',
  '/./rest/v1/entries',
  '/x/../rest/v1/entries',
  'http://localhost/rest/v1/entries',
  '/s/token',
  '/evening/token',
  '/unsubscribe/token',
  '/push/renew',
])('does not take %s for a page while many wait for the database', async (url) => {
  const { send, database } = createWorld();
  database.queued = 201;
  let begun = 0;
  const requests = Array.from({ length: 17 }, () => send(() => ((begun += 1), ok()), { url }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(16);
  database.queued = 200;
  await vi.advanceTimersByTimeAsync(2);
  await Promise.all(requests);
});

test('delays the 503 of a refusal inside a request, but no other 503', async () => {
  const { send } = createWorld();
  const other = await send(() => new Response(null, { status: 503 }));
  expect(other.status).toBe(503);
  let isAnswered = false;
  const sending = send(() => Promise.reject(new BusyError('displaced'))).then(() => (isAnswered = true));
  await vi.advanceTimersByTimeAsync(200);
  expect(isAnswered).toBe(false);
  await vi.advanceTimersByTimeAsync(1_100);
  await sending;
});

test('a refusal does not wait for a client that has left', async () => {
  const { send } = createWorld({ isDatabaseFull: true });
  const outgoing = new EventEmitter();
  const sending = send(ok, { outgoing });
  await setImmediate();
  outgoing.emit('close');
  expect((await sending).status).toBe(503);
  expect(vi.getTimerCount()).toBe(0);
});

test('the more requests are refused, the later they are answered', async () => {
  const { send } = createWorld({ isDatabaseFull: true });
  let answered = 0;
  const all = Array.from({ length: 4_000 }, () => send(ok).then(() => (answered += 1)));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answered).toBeLessThan(1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answered).toBeLessThan(2_000);
  await vi.advanceTimersByTimeAsync(3_100);
  await Promise.all(all);
});

describe('the memory of large bodies', () => {
  const MEGABYTE = 1024 * 1024;

  test('is bounded, and free again when a request ends', async () => {
    const { send, limiters } = createWorld();
    const taken = () => limiters.states().quotas.get('body_bytes')!;
    const finish = Promise.withResolvers<void>();
    const hold = (bytes: number) => async () => {
      holdBody(bytes);
      await finish.promise;
      return ok();
    };
    const held = Array.from({ length: 8 }, () => send(hold(4 * MEGABYTE)));
    await vi.waitFor(() => expect(taken().taken).toBe(32 * MEGABYTE));
    // Half of the quota is taken, and this client holds more than a tenth, so it gets no more.
    const refused = send(hold(4 * MEGABYTE));
    const other = send(hold(4 * MEGABYTE), { remoteAddress: '203.0.113.2' });
    const small = send(hold(1_000));
    await vi.waitFor(() => expect(taken()).toEqual({ taken: 36 * MEGABYTE, refused: 1, displaced: 0 }));
    finish.resolve();
    await vi.advanceTimersByTimeAsync(1_300);
    const statuses = (await Promise.all([...held, refused, other, small])).map(({ status }) => status);
    expect(statuses).toEqual([...Array<number>(8).fill(200), 503, 200, 200]);
    expect(taken().taken).toBe(0);
  });

  test('is free again when a request fails', async () => {
    const { send, limiters } = createWorld();
    const failing = () => {
      holdBody(MEGABYTE);
      return Promise.reject(new Error('failed'));
    };
    await expect(send(failing)).rejects.toThrow('failed');
    expect(limiters.states().quotas.get('body_bytes')!.taken).toBe(0);
  });
});
