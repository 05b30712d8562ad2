/** Tests the mapping of responses to outcomes with a stubbed `fetch`. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createDataClient } from '#client/lib/api/data-client.ts';
import type { EntryTransport } from '../save-requests.ts';
import { createEntryTransport } from './entry-transport.ts';

const DATE = day('2026-11-21');
const VERSION = { id: 'r', revision: 3 };
const ROW = {
  id: 'r',
  content: '<h2 class="date-header">x</h2><p>a</p>',
  revision: 4,
  updated_at: '2026-11-21T10:00:00Z',
};
const tokenOf = (user: string) => `x.${btoa(JSON.stringify({ sub: user })).replaceAll('=', '')}.x`;

const NOW = new Date('2026-11-21T15:30:00Z');
/** The server counts from the earliest current day of all users, the 21st: the free window begins on October 23. */
const OLD = day('2026-10-22');
const OLDEST_FREE = day('2026-10-23');

beforeEach(() => vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp(answers: Response | Error | (Response | Error)[], user: string | null = 'ada') {
  const requests: { url: string; init: RequestInit }[] = [];
  const refused = vi.fn();
  const locked = vi.fn();
  const limits: boolean[] = [];
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    requests.push({ url, init });
    const answer = Array.isArray(answers) ? answers[requests.length - 1]! : answers;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const data = createDataClient({
    apiUrl: 'http://localhost',
    withSession: (base) => async (input, init) => {
      const headers = new Headers(init?.headers);
      if (user !== null) headers.set('authorization', `Bearer ${tokenOf(user)}`);
      const response = await base(input, { ...init, headers });
      if (response.status === 401) refused();
      return response;
    },
  });
  const onWritten = (isLimited: boolean) => void limits.push(isLimited);
  const transport = createEntryTransport(data, 'ada', { onLocked: locked, onWritten });
  return { transport, requests, refused, locked, limits };
}

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
const error = (status: number, code: string) => json({ code, message: 'm', details: null, hint: null }, status);

describe('reading', () => {
  test('returns a day without its date header', async () => {
    const { transport } = setUp(json([ROW]));
    const savedAt = Date.parse(ROW.updated_at);
    expect(await transport.read(DATE)).toEqual({
      kind: 'read',
      stored: { id: 'r', html: '<p>a</p>', revision: 4, savedAt },
    });
  });

  test('returns null for a day without a row', async () => {
    expect(await setUp(json([])).transport.read(DATE)).toEqual({ kind: 'read', stored: null });
  });

  test.each([null, 'bob'])(
    'sends no request with the token of %s: no rows would look like an empty day',
    async (user) => {
      const { transport, requests, refused } = setUp(json([]), user);
      expect(await transport.read(DATE)).toEqual({ kind: 'signedOut' });
      expect(requests).toHaveLength(0);
      expect(refused).toHaveBeenCalledOnce();
    },
  );
});

describe('an answer that the API cannot have sent counts as no answer', () => {
  test.each([
    ['an empty body', ''],
    ['a page', '<!doctype html><title>Sign in to the network</title>'],
    ['null', 'null'],
    ['an object', '{}'],
    ['a text', '"ok"'],
  ])('%s', async (_what, body) => {
    const outcomeOf = async (send: (transport: EntryTransport) => Promise<{ kind: string }>) =>
      (await send(setUp(new Response(body)).transport)).kind;
    const outcomes = [
      await outcomeOf((transport) => transport.read(DATE)),
      await outcomeOf((transport) => transport.read(DATE, 'r')),
      await outcomeOf((transport) => transport.insert(DATE, '<p>a</p>', 'r')),
      await outcomeOf((transport) => transport.update(DATE, '<p>a</p>', VERSION)),
      await outcomeOf((transport) => transport.remove(DATE, VERSION)),
    ];
    expect(outcomes).toEqual(outcomes.map(() => 'unreachable'));
    const plan = setUp([json([]), new Response(body)]);
    expect((await plan.transport.read(OLD)).kind).toBe('unreachable');
  });
});

describe('the answer of a sign-in proxy whose session has ended', () => {
  const redirected = () => Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' });
  const page = () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });

  test.each([
    ['a redirect', redirected],
    ['a page', page],
    [
      'a page with status 401',
      () => new Response('<h1>Sign in</h1>', { status: 401, headers: { 'content-type': 'text/html' } }),
    ],
  ])('%s needs a reload', async (_what, answer) => {
    const expected = { kind: 'unreachable', needsReload: true };
    expect(await setUp(answer()).transport.read(DATE)).toEqual(expected);
    expect(await setUp(answer()).transport.insert(DATE, 'a', 'new')).toEqual(expected);
    expect(await setUp(answer()).transport.update(DATE, 'a', VERSION)).toEqual(expected);
    expect(await setUp(answer()).transport.remove(DATE, VERSION)).toEqual(expected);
  });

  test('no redirect is followed: to another origin it would look like a lost connection', async () => {
    const { transport, requests } = setUp(json([]));
    await transport.read(DATE);
    expect(requests[0]!.init.redirect).toBe('manual');
  });

  test('an error page of a proxy needs none', async () => {
    const answer = new Response('<h1>502</h1>', { status: 502, headers: { 'content-type': 'text/html' } });
    expect(await setUp(answer).transport.read(DATE)).toEqual({ kind: 'unreachable' });
  });
});

test.each([400, 403, 404, 405, 409, 410, 413])(
  'an error %i without a code is the answer of a proxy',
  async (status) => {
    for (const body of ['404 page not found', '<!doctype html><title>Blocked</title>', '{"message":"Forbidden"}', '']) {
      const { transport, locked } = setUp([0, 1, 2].map(() => new Response(body, { status })));
      expect(await transport.read(OLD)).toEqual({ kind: 'unreachable' });
      expect(await transport.insert(OLD, 'a', 'new')).toEqual({ kind: 'unreachable' });
      expect(await transport.update(DATE, 'a', VERSION)).toEqual({ kind: 'unreachable' });
      expect(locked).not.toHaveBeenCalled();
    }
  },
);

describe('no row of an old day', () => {
  const plan = (subscription_plan: string, access_valid_until: string | null) =>
    json([{ subscription_plan, access_valid_until }]);

  test.each([
    ['a plan that opens every day', plan('premium', null)],
    ['the last valid day', plan('premium', '2026-11-21')],
  ])('with %s is an empty day', async (_what, profile) => {
    const { transport, requests, locked } = setUp([json([]), profile, json([])]);
    expect(await transport.read(OLD)).toEqual({ kind: 'read', stored: null });
    expect(requests[1]!.url).toContain('/profiles?select=subscription_plan%2Caccess_valid_until&id=eq.ada');
    expect(locked).not.toHaveBeenCalled();
  });

  test.each([
    ['the free plan', plan('free', null)],
    ['a plan that ran out', plan('premium', '2026-11-20')],
    ['no profile', json([])],
  ])('with %s is a locked day', async (_what, profile) => {
    const { transport, locked } = setUp([json([]), profile]);
    expect(await transport.read(OLD)).toEqual({ kind: 'locked' });
    expect(locked).toHaveBeenCalledOnce();
  });

  test('is read again with a plan that opens the day, which may have begun after the first answer', async () => {
    const { transport, requests } = setUp([json([]), plan('premium', null), json([ROW])]);
    expect(await transport.read(OLD)).toMatchObject({ kind: 'read', stored: { revision: 4 } });
    expect(requests[2]!.url).toBe(requests[0]!.url);
    const other = { ...ROW, id: 'other', date: OLD };
    const withRow = setUp([json([]), plan('premium', null), json([other])]);
    expect(await withRow.transport.read(OLD, 'r')).toMatchObject({ kind: 'read', stored: { id: 'other' } });
  });

  test('is a failure if the plan cannot be read', async () => {
    expect(await setUp([json([]), error(503, '')]).transport.read(OLD)).toEqual({ kind: 'unreachable' });
    expect(await setUp([json([]), error(401, 'PGRST303')]).transport.read(OLD)).toEqual({ kind: 'signedOut' });
  });

  test('does not load the plan for a recent day or a day with a row', async () => {
    const free = setUp([json([])]);
    expect(await free.transport.read(OLDEST_FREE)).toEqual({ kind: 'read', stored: null });
    expect(free.requests).toHaveLength(1);
    const written = setUp([json([ROW])]);
    expect(await written.transport.read(OLD)).toMatchObject({ kind: 'read', stored: { revision: 4 } });
    expect(written.requests).toHaveLength(1);
  });
});

describe('writing', () => {
  test('an update names the user, the day and its base revision, and is sent with keepalive', async () => {
    const { transport, requests } = setUp(json([ROW]));
    expect(await transport.update(DATE, '<p>b</p>', VERSION)).toMatchObject({ kind: 'stored', revision: 4 });
    const { url, init } = requests[0]!;
    expect(init).toMatchObject({ method: 'PATCH', keepalive: true });
    expect(url).toContain(`user_id=eq.ada&date=eq.${DATE}&id=eq.r&revision=eq.3`);
    expect(init.body).toContain('Saturday - November 21, 2026');
  });

  test('a text too large for keepalive is sent without it', async () => {
    const { transport, requests } = setUp(json([ROW]));
    await transport.update(DATE, 'a'.repeat(60_000), VERSION);
    expect(requests[0]!.init.keepalive).toBe(false);
  });

  test('a large text has more time, up to the limit of the server', async () => {
    const limit = vi.spyOn(AbortSignal, 'timeout');
    const { transport } = setUp([json([ROW]), json([ROW])]);
    await transport.update(DATE, 'a', VERSION);
    await transport.update(DATE, 'a'.repeat(256 * 1024), VERSION);
    const [[small], [large]] = limit.mock.calls as [[number], [number]];
    expect(small).toBeLessThan(21_000);
    expect(large).toBeGreaterThan(50_000);
    expect(large).toBeLessThan(60_000);
    limit.mockRestore();
  });

  test('a response without a row, or a duplicate key, means that the day has changed', async () => {
    expect(await setUp(json([])).transport.update(DATE, 'a', VERSION)).toEqual({ kind: 'changed' });
    expect(await setUp(json([])).transport.remove(DATE, VERSION)).toEqual({ kind: 'changed' });
    expect(await setUp(error(409, '23505')).transport.insert(DATE, 'a', 'new')).toEqual({ kind: 'changed' });
  });

  test('an insert names the new row', async () => {
    const { transport, requests } = setUp(json([{ ...ROW, id: 'new', revision: 1 }]));
    expect(await transport.insert(DATE, 'a', 'new')).toMatchObject({ kind: 'stored', id: 'new' });
    expect(JSON.parse(requests[0]!.init.body as string)).toMatchObject({ id: 'new', date: DATE });
  });

  test('a removal that returns the row is confirmed', async () => {
    expect(await setUp(json([ROW])).transport.remove(DATE, VERSION)).toEqual({ kind: 'removed' });
  });

  test.each([
    [401, 'PGRST303', { kind: 'signedOut' }],
    [403, '42501', { kind: 'refused', reason: 'this day is not open to you' }],
    [413, '53100', { kind: 'refused', reason: 'your logs fill your account. A deleted log makes room after 30 days' }],
    [429, '53400', { kind: 'unreachable' }],
    [413, '54000', { kind: 'refused', reason: 'this log is larger than 256 KB' }],
    [400, '22P02', { kind: 'refused', reason: 'the server refused it (22P02)' }],
    [408, '', { kind: 'unreachable' }],
    [429, '', { kind: 'unreachable' }],
    [500, 'XX000', { kind: 'unreachable' }],
    [503, '', { kind: 'unreachable' }],
  ])('%i %s', async (status, code, outcome) => {
    expect(await setUp(error(status, code)).transport.update(DATE, 'a', VERSION)).toEqual(outcome);
  });

  test('says whether the bytes of a minute are used up, after every write', async () => {
    const { transport, limits } = setUp([error(429, '53400'), error(429, ''), error(429, '53400'), json([ROW])]);
    await transport.insert(DATE, 'a', 'r');
    await transport.update(DATE, 'a', VERSION);
    await transport.remove(DATE, VERSION);
    await transport.update(DATE, 'a', VERSION);
    expect(limits).toEqual([true, false, true, false]);
  });

  test('an old day that the database refuses is locked', async () => {
    const { transport, locked } = setUp(error(403, '42501'));
    expect(await transport.insert(OLD, 'a', 'new')).toEqual({ kind: 'locked' });
    expect(locked).toHaveBeenCalledOnce();
  });

  test('a busy server names the earliest retry', async () => {
    const busy = (retryAfter: string) =>
      new Response('{"code":"busy"}', { status: 503, headers: { 'retry-after': retryAfter } });
    const answers = [busy('3'), new TypeError('failed'), busy('Fri, 20 Nov 2026 12:00:00 GMT'), json([ROW])];
    const { transport } = setUp(answers);
    expect(await transport.update(DATE, 'a', VERSION)).toEqual({ kind: 'unreachable', retryAfterMs: 3_000 });
    expect(await transport.update(DATE, 'a', VERSION)).toEqual({ kind: 'unreachable' });
    expect(await transport.read(DATE)).toEqual({ kind: 'unreachable' });
    expect(await transport.update(DATE, 'a', VERSION)).toMatchObject({ kind: 'stored' });
  });

  test('a busy server delays only the request that it refused', async () => {
    let endBody = (): void => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        endBody = () => controller.close();
      },
    });
    const { transport } = setUp([new Response(body, { status: 503, headers: { 'retry-after': '3' } }), json([ROW])]);
    const refused = transport.update(DATE, 'a', VERSION);
    expect(await transport.update(OLD, 'a', VERSION)).toMatchObject({ kind: 'stored' });
    endBody();
    expect(await refused).toEqual({ kind: 'unreachable', retryAfterMs: 3_000 });
  });

  test('a network error is unreachable', async () => {
    expect(await setUp(new TypeError('failed')).transport.update(DATE, 'a', VERSION)).toEqual({ kind: 'unreachable' });
  });
});
