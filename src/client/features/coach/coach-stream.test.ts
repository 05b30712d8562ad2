import { afterEach, expect, test, vi } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { askCoach } from './coach-stream.ts';
import type { ApiRequest, Supabase } from '#client/lib/api/supabase.ts';

type Result = { score: number };
type Name = 'ai-feedback' | 'trend-analysis';
const isResult = (data: unknown): data is Result => typeof (data as Result).score === 'number';

afterEach(() => vi.unstubAllGlobals());

/** A client of a server that gives this response to the signed-in user. `bodies` records the request bodies. */
function serverOf(respond: (signal: AbortSignal) => Response | Promise<Response>, signedIn = 'ana') {
  const bodies: unknown[] = [];
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    bodies.push(JSON.parse(init.body as string));
    return Promise.resolve(respond(init.signal as AbortSignal));
  });
  const supabase = {
    ask: (path: string, { body, signal, base = fetch }: ApiRequest) =>
      base(`http://forge.test${path}`, {
        headers: { authorization: tokenOf(signedIn) },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
  } as unknown as Supabase;
  return { supabase, bodies };
}

function streamOf(...pieces: string[]): Response {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

const tokenOf = (userId: string): string => `Bearer x.${btoa(JSON.stringify({ sub: userId }))}.x`;

async function readAnswer(supabase: Supabase, signal = new AbortController().signal, name: Name = 'ai-feedback') {
  const received: unknown[] = [];
  const answer = await askCoach<Result>(supabase, {
    name,
    userId: 'ana',
    body: { date: '2026-11-21' },
    signal,
    onScore: (score) => received.push(score),
    onText: (delta) => received.push(delta),
    isResult,
  });
  return { answer, received };
}

const SCORE = 'event: score\ndata: {"score":7}\n\n';
const TEXT = 'event: text\ndata: {"delta":"Héllo"}\n\n';
const DONE = 'event: done\ndata: {"score":7}\n\n';

test('delivers the score, the text and the result in order', async () => {
  const { supabase, bodies } = serverOf(() => streamOf(': beat\n\n', SCORE + TEXT.slice(0, 20), TEXT.slice(20), DONE));
  expect(await readAnswer(supabase)).toEqual({
    answer: { kind: 'done', result: { score: 7 } },
    received: [7, 'Héllo'],
  });
  expect(bodies).toEqual([{ date: '2026-11-21' }]);
});

test('reports a stream that ends early as a lost connection', async () => {
  const { supabase } = serverOf(() => streamOf(SCORE, TEXT));
  expect((await readAnswer(supabase)).answer).toMatchObject({
    failure: { reason: 'network', message: ANALYSIS_PROBLEMS.network },
  });
});

test('reports an invalid result and invalid JSON as malformed', async () => {
  for (const broken of ['event: done\ndata: {}\n\n', 'event: text\ndata: {\n\n']) {
    const { supabase } = serverOf(() => streamOf(broken));
    expect((await readAnswer(supabase)).answer).toMatchObject({ failure: { reason: 'format' } });
  }
});

test("keeps a problem event's message and retry time", async () => {
  const data = { class: 'rate', message: 'Slow down.', retryAt: '2026-11-22T01:00:00.000Z' };
  const { supabase } = serverOf(() => streamOf(`event: problem\ndata: ${JSON.stringify(data)}\n\n`));
  expect((await readAnswer(supabase)).answer).toEqual({
    kind: 'failed',
    failure: { kind: 'problem', reason: 'rate', message: 'Slow down.', retryAt: Date.parse(data.retryAt) },
  });
});

test('distinguishes a refusal from a failure', async () => {
  const refusal = { success: false, code: 'too_short', error: 'Write more.' };
  const refused = serverOf(() => Response.json(refusal, { status: 400 }));
  expect((await readAnswer(refused.supabase)).answer).toEqual({
    kind: 'failed',
    failure: { kind: 'refused', reason: 'too_short', message: 'Write more.', retryAt: null },
  });
});

test.each([
  ['ai-feedback', 200, '<h1>Sign in to this network</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 500, '<h1>Internal Server Error</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 502, '<h1>Bad Gateway</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 500, '{"message":"Internal server error"}', 'general', ANALYSIS_PROBLEMS.general],
  ['trend-analysis', 502, '<h1>Bad Gateway</h1>', 'network', AI_MESSAGES.reviewFailed],
  ['trend-analysis', 500, '{"message":"Internal server error"}', 'general', AI_MESSAGES.reviewFailed],
  ['ai-feedback', 401, '{"code":"BAD","error":"Invalid JWT"}', 'signed_out', AI_MESSAGES.signedOut],
  ['trend-analysis', 401, '', 'signed_out', AI_MESSAGES.signedOut],
] as const)(
  '%s shows a message of its own for a %i response without a readable one: %s',
  async (name, status, body, reason, message) => {
    const { supabase } = serverOf(() => new Response(body, { status }));
    expect((await readAnswer(supabase, undefined, name)).answer).toMatchObject({ failure: { reason, message } });
  },
);

test('reports an unreachable server as a lost connection', async () => {
  const { supabase } = serverOf(() => Promise.reject(new TypeError('Failed to fetch')));
  expect((await readAnswer(supabase)).answer).toMatchObject({ failure: { reason: 'network' } });
});

test('sends no request for a different user who signed in in another tab', async () => {
  vi.stubGlobal('navigator', { onLine: true });
  const { supabase, bodies } = serverOf(() => streamOf(SCORE, TEXT, DONE), 'ben');
  expect(await readAnswer(supabase)).toMatchObject({ answer: { failure: { reason: 'signed_out' } }, received: [] });
  expect(bodies).toEqual([]);
});

test('aborts the request when the caller aborts', async () => {
  const caller = new AbortController();
  let requestSignal: AbortSignal | undefined;
  const { supabase } = serverOf((signal) => {
    requestSignal = signal;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  const pending = readAnswer(supabase, caller.signal);
  caller.abort();
  await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
  expect(requestSignal?.aborted).toBe(true);
});
