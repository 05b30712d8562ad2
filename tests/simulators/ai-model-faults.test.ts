/** What can go wrong between the product and a model, as the AI SDK sees it. */
import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import type { Fault } from '../../simulators/ai-model/faults.ts';
import { hear, modelOf, modelWorld, PROVIDERS } from './ai-model-world.ts';

const server = modelWorld();

/** The first error, which each of these must have. */
async function refusedBy(
  provider: (typeof PROVIDERS)[number],
  changed: Record<string, string> = {},
): Promise<APICallError> {
  const { errors } = await hear(modelOf(server(), provider, changed));
  expect(APICallError.isInstance(errors[0])).toBe(true);
  return errors[0] as APICallError;
}

test.each(PROVIDERS)('%s refuses another key', async (provider) => {
  const { statusCode, isRetryable, responseBody } = await refusedBy(provider, { AI_API_KEY: 'another' });
  expect([statusCode, isRetryable]).toEqual([provider === 'google' ? 400 : 401, false]);
  if (provider === 'google') expect(responseBody).toContain('"reason":"API_KEY_INVALID"');
});

test.each(PROVIDERS)('%s does not know every model', async (provider) => {
  expect((await refusedBy(provider, { AI_MODEL: 'unknown-model' })).statusCode).toBe(404);
});

test('Google tells in the body how long to wait, and which quota it is', async () => {
  server().control.fail({ status: 429, retryDelay: 37 });
  const minute = await refusedBy('google');
  expect(minute.statusCode).toBe(429);
  expect(minute.responseHeaders).not.toHaveProperty('retry-after');
  expect(JSON.parse(minute.responseBody!)).toMatchObject({
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { violations: [{ quotaId: expect.stringContaining('PerMinute') }] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' },
      ],
    },
  });
  server().control.fail({ status: 429, name: 'PerDay' });
  expect((await refusedBy('google')).responseBody).toContain('PerDay');
});

test.each<[(typeof PROVIDERS)[number], Fault, string]>([
  ['google', { status: 503 }, 'UNAVAILABLE'],
  ['google', { status: 400, name: 'FAILED_PRECONDITION' }, 'FAILED_PRECONDITION'],
  ['anthropic', { status: 429 }, 'rate_limit_error'],
  ['anthropic', { status: 529 }, 'overloaded_error'],
  ['openai-compatible', { status: 429, name: 'insufficient_quota' }, 'insufficient_quota'],
  ['openai-compatible', { status: 500 }, 'server_error'],
])('%s fails with %o in its own words', async (provider, fault, words) => {
  server().control.fail({ ...fault, retryAfter: 9 });
  const { statusCode, responseBody, responseHeaders } = await refusedBy(provider);
  expect(statusCode).toBe(fault.status);
  expect(responseBody).toContain(words);
  expect(responseHeaders!['retry-after']).toBe('9');
});

test.each(PROVIDERS)('%s refuses a prompt, stops for safety and runs out of tokens', async (provider) => {
  const reasons: (string | null)[] = [];
  for (const reply of ['blocked', 'safety', 'length'] as const) {
    server().control.fail({ reply });
    const heard = await hear(modelOf(server(), provider));
    expect(heard.errors).toEqual([]);
    expect(heard.text === '').toBe(reply !== 'length');
    reasons.push(heard.finishReason);
  }
  expect(reasons).toEqual(['content-filter', 'content-filter', 'length']);
});

test('Google has words of its own for each of them', async () => {
  const raw: (string | undefined)[] = [];
  for (const reply of ['blocked', 'safety', 'length'] as const) {
    server().control.fail({ reply });
    raw.push((await hear(modelOf(server(), 'google'))).rawFinishReason);
  }
  expect(raw).toEqual(['PROHIBITED_CONTENT', 'SAFETY', 'MAX_TOKENS']);
});

test.each(PROVIDERS)('%s says nothing, something broken, or what it is made to say', async (provider) => {
  const heard = async (fault: Fault): Promise<string> => {
    server().control.fail(fault);
    return (await hear(modelOf(server(), provider), { json: true })).text;
  };
  expect(await heard({ reply: 'nothing' })).toBe('');
  const broken = await heard({ reply: 'broken' });
  expect(broken).toMatch(/^\{"score":/);
  expect(() => JSON.parse(broken) as unknown).toThrow(SyntaxError);
  expect(await heard({ text: 'I would rather not.' })).toBe('I would rather not.');
});

test('a model that repeats the log does so line by line, after its own answer', async () => {
  server().control.fail({ echo: true });
  const prompt = JSON.stringify({ date: '2026-11-20', text: 'Slept late\nHustleScore: 10/10' });
  const { text } = await hear(modelOf(server(), 'google'), { prompt });
  expect(text).toMatch(/^HustleScore: \d\/10\n\nSandbox model: .*\n\nSlept late\nHustleScore: 10\/10$/s);
});

test.each(PROVIDERS)('a stream of %s breaks in its middle, or ends without an end', async (provider) => {
  // Held until all of it has arrived: what is still on its way when a connection breaks may be lost.
  server().control.fail({ hold: 'after', cut: 'connection', after: 3 });
  const broken = await hear(modelOf(server(), provider), {
    onPiece: (count) => void (count === 3 && server().control.whenHeld().then(server().control.release)),
  });
  expect(broken.pieces).toHaveLength(3);
  expect(broken.errors).toHaveLength(1);
  server().control.fail({ cut: 'stream', after: 3 });
  const ended = await hear(modelOf(server(), provider));
  expect(ended.pieces).toHaveLength(3);
  expect(ended.finishReason).not.toBe('stop');
  expect(
    server()
      .control.requests()
      .map(({ end }) => end),
  ).toEqual(['cut', 'cut']);
});

test.each(PROVIDERS)('%s fails in the middle of a stream', async (provider) => {
  server().control.fail({ status: provider === 'anthropic' ? 529 : 503, after: 2 });
  const heard = await hear(modelOf(server(), provider));
  expect(heard.pieces).toHaveLength(2);
  expect(heard.errors).toHaveLength(1);
});

test.each(PROVIDERS)('a connection to %s that breaks at once says nothing at all', async (provider) => {
  server().control.fail({ drop: true });
  const heard = await hear(modelOf(server(), provider));
  expect([heard.text, heard.errors.length]).toEqual(['', 1]);
});

test.each<[Fault['body']]>([['html'], ['empty'], ['truncated']])('a body that is %s is an error', async (body) => {
  for (const provider of PROVIDERS) {
    server().control.fail({ status: 502, ...(body && { body }) });
    expect((await refusedBy(provider)).statusCode).toBe(502);
  }
});

test('a stream is held before its first byte and in its middle, until it is released', async () => {
  const { control } = server();
  for (const hold of ['before', 'after'] as const) {
    control.fail({ hold, after: 2 });
    const hearing = hear(modelOf(server(), 'google'));
    await control.whenHeld();
    expect(control.requests().at(-1)!.status).toBe(hold === 'before' ? null : 200);
    expect(control.release()).toBe(1);
    const heard = await hearing;
    expect([heard.finishReason, heard.errors]).toEqual(['stop', []]);
  }
});

test('many are held at once, and one who leaves is seen to leave', async () => {
  const { control } = server();
  control.fail({ hold: 'after', times: 3 });
  const leaving = new AbortController();
  const hearing = [{ signal: leaving.signal }, {}, {}].map((question) => hear(modelOf(server(), 'google'), question));
  await control.whenHeld(3);
  leaving.abort();
  await control.whenLeft();
  expect(control.requests().filter(({ end }) => end === 'left')).toHaveLength(1);
  expect(control.release()).toBe(2);
  const [left, ...stayed] = await Promise.all(hearing);
  expect(left!.finishReason).toBeNull();
  expect(stayed.map(({ finishReason }) => finishReason)).toEqual(['stop', 'stop']);
});

test('faults come over HTTP as well, fit a path, and are used up', async () => {
  const command = (path: string, body: object): Promise<Response> =>
    fetch(`${server().url}/__simulator${path}`, { method: 'POST', body: JSON.stringify(body) });
  await command('/fail', { hold: 'before' } satisfies Fault);
  const hearing = hear(modelOf(server(), 'google'));
  await command('/held', { count: 1 });
  expect(await (await command('/release', {})).json()).toEqual({ released: 1 });
  expect((await hearing).errors).toEqual([]);
  await command('/fail', { path: 'messages$', status: 529, times: 2 } satisfies Fault);
  expect((await hear(modelOf(server(), 'google'))).errors).toEqual([]);
  expect((await refusedBy('anthropic')).statusCode).toBe(529);
  await command('/reset', {});
  expect((await hear(modelOf(server(), 'anthropic'))).errors).toEqual([]);
  const told = await (await fetch(`${server().url}/__simulator/requests`)).text();
  expect(told).toContain('"end":"whole"');
  expect(told).not.toContain('sandbox-key');
});
