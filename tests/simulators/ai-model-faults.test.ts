/** The model simulator's faults, as the AI SDK reports them. */
import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import type { Fault } from '../../simulators/ai-model/faults.ts';
import { runStream, createModel, useModelServer, PROVIDERS } from './model-client.ts';

const server = useModelServer();

/** Returns the error of a rejected request. */
async function expectRefusal(
  provider: (typeof PROVIDERS)[number],
  changed: Record<string, string> = {},
): Promise<APICallError> {
  const { errors } = await runStream(createModel(server(), provider, changed));
  expect(APICallError.isInstance(errors[0])).toBe(true);
  return errors[0] as APICallError;
}

test.each(PROVIDERS)('%s rejects an invalid API key', async (provider) => {
  const { statusCode, isRetryable, responseBody } = await expectRefusal(provider, { AI_API_KEY: 'another' });
  expect([statusCode, isRetryable]).toEqual([provider === 'google' ? 400 : 401, false]);
  if (provider === 'google') expect(responseBody).toContain('"reason":"API_KEY_INVALID"');
});

test.each(PROVIDERS)('%s rejects an unknown model', async (provider) => {
  expect((await expectRefusal(provider, { AI_MODEL: 'unknown-model' })).statusCode).toBe(404);
});

test('Google sends the retry delay and the quota in the body', async () => {
  server().control.fail({ status: 429, retryDelay: 37 });
  const minute = await expectRefusal('google');
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
  expect((await expectRefusal('google')).responseBody).toContain('PerDay');
});

test.each<[(typeof PROVIDERS)[number], Fault, string]>([
  ['google', { status: 503 }, 'UNAVAILABLE'],
  ['google', { status: 400, name: 'FAILED_PRECONDITION' }, 'FAILED_PRECONDITION'],
  ['anthropic', { status: 429 }, 'rate_limit_error'],
  ['anthropic', { status: 529 }, 'overloaded_error'],
  ['openai-compatible', { status: 429, name: 'insufficient_quota' }, 'insufficient_quota'],
  ['openai-compatible', { status: 500 }, 'server_error'],
])('%s reports %o in its own error format', async (provider, fault, words) => {
  server().control.fail({ ...fault, retryAfter: 9 });
  const { statusCode, responseBody, responseHeaders } = await expectRefusal(provider);
  expect(statusCode).toBe(fault.status);
  expect(responseBody).toContain(words);
  expect(responseHeaders!['retry-after']).toBe('9');
});

test.each(PROVIDERS)('%s blocks a prompt, stops for safety and runs out of tokens', async (provider) => {
  const reasons: (string | null)[] = [];
  for (const reply of ['blocked', 'safety', 'length'] as const) {
    server().control.fail({ reply });
    const result = await runStream(createModel(server(), provider));
    expect(result.errors).toEqual([]);
    expect(result.text === '').toBe(reply !== 'length');
    reasons.push(result.finishReason);
  }
  expect(reasons).toEqual(['content-filter', 'content-filter', 'length']);
});

test('Google sends its own finish reasons', async () => {
  const raw: (string | undefined)[] = [];
  for (const reply of ['blocked', 'safety', 'length'] as const) {
    server().control.fail({ reply });
    raw.push((await runStream(createModel(server(), 'google'))).rawFinishReason);
  }
  expect(raw).toEqual(['PROHIBITED_CONTENT', 'SAFETY', 'MAX_TOKENS']);
});

test.each(PROVIDERS)('%s returns an empty, a broken or a given answer', async (provider) => {
  const result = async (fault: Fault): Promise<string> => {
    server().control.fail(fault);
    return (await runStream(createModel(server(), provider), { json: true })).text;
  };
  expect(await result({ reply: 'nothing' })).toBe('');
  const broken = await result({ reply: 'broken' });
  expect(broken).toMatch(/^\{"score":/);
  expect(() => JSON.parse(broken) as unknown).toThrow(SyntaxError);
  expect(await result({ text: 'I would rather not.' })).toBe('I would rather not.');
});

test('the echo fault appends the log line by line to the answer', async () => {
  server().control.fail({ echo: true });
  const prompt = JSON.stringify({ date: '2026-11-20', text: 'Slept late\nHustleScore: 10/10' });
  const { text } = await runStream(createModel(server(), 'google'), { prompt });
  expect(text).toMatch(/^HustleScore: \d\/10\n\nSandbox model: .*\n\nSlept late\nHustleScore: 10\/10$/s);
});

test.each(PROVIDERS)('a stream of %s breaks in the middle, or ends without its final events', async (provider) => {
  // Holds the stream until the client has received all chunks: data in flight is lost when the connection breaks.
  server().control.fail({ hold: 'after', cut: 'connection', after: 3 });
  const broken = await runStream(createModel(server(), provider), {
    onChunk: (count) => void (count === 3 && server().control.whenHeld().then(server().control.release)),
  });
  expect(broken.chunks).toHaveLength(3);
  expect(broken.errors).toHaveLength(1);
  server().control.fail({ cut: 'stream', after: 3 });
  const ended = await runStream(createModel(server(), provider));
  expect(ended.chunks).toHaveLength(3);
  expect(ended.finishReason).not.toBe('stop');
  expect(
    server()
      .control.requests()
      .map(({ end }) => end),
  ).toEqual(['cut', 'cut']);
});

test.each(PROVIDERS)('%s fails in the middle of a stream', async (provider) => {
  server().control.fail({ status: provider === 'anthropic' ? 529 : 503, after: 2 });
  const result = await runStream(createModel(server(), provider));
  expect(result.chunks).toHaveLength(2);
  expect(result.errors).toHaveLength(1);
});

test.each(PROVIDERS)('a connection to %s that breaks at once yields no text', async (provider) => {
  server().control.fail({ drop: true });
  const result = await runStream(createModel(server(), provider));
  expect([result.text, result.errors.length]).toEqual(['', 1]);
});

test.each<[Fault['body']]>([['html'], ['empty'], ['truncated']])('a body that is %s is an error', async (body) => {
  for (const provider of PROVIDERS) {
    server().control.fail({ status: 502, ...(body && { body }) });
    expect((await expectRefusal(provider)).statusCode).toBe(502);
  }
});

test('a stream is held before its first byte and in its middle, until it is released', async () => {
  const { control } = server();
  for (const hold of ['before', 'after'] as const) {
    control.fail({ hold, after: 2 });
    const streaming = runStream(createModel(server(), 'google'));
    await control.whenHeld();
    expect(control.requests().at(-1)!.status).toBe(hold === 'before' ? null : 200);
    expect(control.release()).toBe(1);
    const result = await streaming;
    expect([result.finishReason, result.errors]).toEqual(['stop', []]);
  }
});

test('holds several requests and notices a client that disconnects', async () => {
  const { control } = server();
  control.fail({ hold: 'after', times: 3 });
  const leaving = new AbortController();
  const streaming = [{ signal: leaving.signal }, {}, {}].map((question) =>
    runStream(createModel(server(), 'google'), question),
  );
  await control.whenHeld(3);
  leaving.abort();
  await control.whenDisconnected();
  expect(control.requests().filter(({ end }) => end === 'left')).toHaveLength(1);
  expect(control.release()).toBe(2);
  const [left, ...stayed] = await Promise.all(streaming);
  expect(left!.finishReason).toBeNull();
  expect(stayed.map(({ finishReason }) => finishReason)).toEqual(['stop', 'stop']);
});

test('faults can be set over HTTP, match a path and apply a limited number of times', async () => {
  const command = (path: string, body: object): Promise<Response> =>
    fetch(`${server().url}/__simulator${path}`, { method: 'POST', body: JSON.stringify(body) });
  await command('/fail', { hold: 'before' } satisfies Fault);
  const streaming = runStream(createModel(server(), 'google'));
  await command('/held', { count: 1 });
  expect(await (await command('/release', {})).json()).toEqual({ released: 1 });
  expect((await streaming).errors).toEqual([]);
  await command('/fail', { path: 'messages$', status: 529, times: 2 } satisfies Fault);
  expect((await runStream(createModel(server(), 'google'))).errors).toEqual([]);
  expect((await expectRefusal('anthropic')).statusCode).toBe(529);
  await command('/reset', {});
  expect((await runStream(createModel(server(), 'anthropic'))).errors).toEqual([]);
  const requests = await (await fetch(`${server().url}/__simulator/requests`)).text();
  expect(requests).toContain('"end":"whole"');
  expect(requests).not.toContain('sandbox-key');
});
