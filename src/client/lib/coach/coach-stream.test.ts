import { afterEach, expect, test, vi } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { askCoach } from './coach-stream.ts';
import type { Supabase } from '../api/supabase.ts';

type Result = { score: number };
type Name = 'ai-feedback' | 'trend-analysis';
const isResult = (data: unknown): data is Result => typeof (data as Result).score === 'number';

afterEach(() => vi.unstubAllGlobals());

/** A server that answers this to whoever is signed in; what is asked of it is kept. */
function serverOf(answer: (signal: AbortSignal) => Response | Promise<Response>, signedIn = 'ana') {
  const asked: unknown[] = [];
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    asked.push(JSON.parse(init.body as string));
    return Promise.resolve(answer(init.signal as AbortSignal));
  });
  const supabase = {
    apiUrl: 'http://forge.test',
    withSession: (base: typeof fetch) => (url: string, init: RequestInit) =>
      base(url, { ...init, headers: { authorization: tokenOf(signedIn) } }),
  } as unknown as Supabase;
  return { supabase, asked };
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

async function ask(supabase: Supabase, signal = new AbortController().signal, name: Name = 'ai-feedback') {
  const heard: unknown[] = [];
  const answer = await askCoach<Result>(supabase, {
    name,
    userId: 'ana',
    body: { date: '2026-11-21' },
    signal,
    onScore: (score) => heard.push(score),
    onText: (delta) => heard.push(delta),
    isResult,
  });
  return { answer, heard };
}

const SCORE = 'event: score\ndata: {"score":7}\n\n';
const TEXT = 'event: text\ndata: {"delta":"Héllo"}\n\n';
const DONE = 'event: done\ndata: {"score":7}\n\n';

test('the score, the text and the end, in their order', async () => {
  const { supabase, asked } = serverOf(() => streamOf(': beat\n\n', SCORE + TEXT.slice(0, 20), TEXT.slice(20), DONE));
  expect(await ask(supabase)).toEqual({ answer: { kind: 'done', result: { score: 7 } }, heard: [7, 'Héllo'] });
  expect(asked).toEqual([{ date: '2026-11-21' }]);
});

test('a stream that is cut before its end is a lost connection', async () => {
  const { supabase } = serverOf(() => streamOf(SCORE, TEXT));
  expect((await ask(supabase)).answer).toMatchObject({
    failure: { reason: 'network', message: ANALYSIS_PROBLEMS.network },
  });
});

test('an end that is no result, and data that is no JSON, are malformed', async () => {
  for (const broken of ['event: done\ndata: {}\n\n', 'event: text\ndata: {\n\n']) {
    const { supabase } = serverOf(() => streamOf(broken));
    expect((await ask(supabase)).answer).toMatchObject({ failure: { reason: 'format' } });
  }
});

test('a problem keeps its words and its time', async () => {
  const data = { class: 'rate', message: 'Slow down.', retryAt: '2026-11-22T01:00:00.000Z' };
  const { supabase } = serverOf(() => streamOf(`event: problem\ndata: ${JSON.stringify(data)}\n\n`));
  expect((await ask(supabase)).answer).toEqual({
    kind: 'failed',
    failure: { kind: 'problem', reason: 'rate', message: 'Slow down.', retryAt: Date.parse(data.retryAt) },
  });
});

test('a refusal is told from a failure', async () => {
  const refusal = { success: false, code: 'too_short', error: 'Write more.' };
  const refused = serverOf(() => Response.json(refusal, { status: 400 }));
  expect((await ask(refused.supabase)).answer).toEqual({
    kind: 'failed',
    failure: { kind: 'refused', reason: 'too_short', message: 'Write more.', retryAt: null },
  });
});

test.each([
  ['ai-feedback', 200, '<h1>Sign in to this network</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 500, '<h1>Internal Server Error</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 502, '<h1>Bad Gateway</h1>', 'network', ANALYSIS_PROBLEMS.network],
  ['ai-feedback', 500, '{"message":"Internal server error"}', 'general', ANALYSIS_PROBLEMS.general],
  ['trend-analysis', 502, '<h1>Bad Gateway</h1>', 'network', AI_MESSAGES.trendFailed],
  ['trend-analysis', 500, '{"message":"Internal server error"}', 'general', AI_MESSAGES.trendFailed],
  ['ai-feedback', 401, '{"code":"BAD","error":"Invalid JWT"}', 'signed_out', AI_MESSAGES.signedOut],
  ['trend-analysis', 401, '', 'signed_out', AI_MESSAGES.signedOut],
] as const)('%s, answered %i in words that are not for a screen: %s', async (name, status, body, reason, message) => {
  const { supabase } = serverOf(() => new Response(body, { status }));
  expect((await ask(supabase, undefined, name)).answer).toMatchObject({ failure: { reason, message } });
});

test('a server that cannot be reached is a lost connection', async () => {
  const { supabase } = serverOf(() => Promise.reject(new TypeError('Failed to fetch')));
  expect((await ask(supabase)).answer).toMatchObject({ failure: { reason: 'network' } });
});

test('somebody else, whom another tab has signed in since, is not asked for', async () => {
  vi.stubGlobal('navigator', { onLine: true });
  const { supabase, asked } = serverOf(() => streamOf(SCORE, TEXT, DONE), 'ben');
  expect(await ask(supabase)).toMatchObject({ answer: { failure: { reason: 'signed_out' } }, heard: [] });
  expect(asked).toEqual([]);
});

test('leaving ends the request', async () => {
  const leave = new AbortController();
  let given: AbortSignal | undefined;
  const { supabase } = serverOf((signal) => {
    given = signal;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  const asking = ask(supabase, leave.signal);
  leave.abort();
  await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  expect(given?.aborted).toBe(true);
});
