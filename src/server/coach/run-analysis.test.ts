import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { CoachEvent } from '#domain/coach/coach.ts';
import { day } from '#domain/day/day.ts';
import type { CoachStore } from './coach-store.ts';
import type { CoachModel } from './model/model.ts';
import { trendReader } from './reply/parse-response.ts';
import { beginAnalysis } from './run-analysis.ts';
import type { Job, RunDeps } from './run-analysis.ts';

const WORDS = 'On most days you finished what you had begun. '.repeat(200);

function depsOf(pieces: Iterable<string>): RunDeps {
  const model: CoachModel = {
    async *stream() {
      for (const text of pieces) yield { type: 'reply', text };
      yield { type: 'end', finish: 'stop', rawFinish: null, modelVersion: null, inputTokens: 1, outputTokens: 1 };
    },
    describe: () => ({ provider: 'none', model: 'none', replies: 'text' }),
  };
  const store: Partial<CoachStore> = {
    claim: async () => true,
    mayGoOn: async () => true,
    findByInput: async () => null,
    countTries: async () => ({ tries: 1, underWay: 1, resetInSeconds: 1 }),
    finish: async () => ({ written: null, at: new Date(0) }),
  };
  const limits = { timeoutMs: 60_000, dailyLimit: 1 };
  return {
    store: store as CoachStore,
    model,
    limits,
    log: pino({ enabled: false }),
    clock: { now: () => new Date(0) },
  };
}

function* lettersOf(text: string): Generator<string> {
  for (let length = 1; length <= text.length; length += 1) yield text.slice(0, length);
}

test('of a reply that comes letter by letter the first words are told at once, and the work grows as the reply does', async () => {
  const { soFar, whole } = trendReader(new Set());
  let read = 0;
  const job: Job<string> = {
    userId: 'u',
    identity: { role: 'authenticated', claimsJson: '{}' },
    kind: 'trend',
    key: 'k',
    about: { from: day('2026-11-14'), to: day('2026-11-20'), logs: [] },
    prompt: { instructions: 'Look.', textInstructions: null, data: '{}' },
    schema: null,
    maxOutputTokens: 9,
    reader: {
      soFar(text) {
        read += text.length;
        return soFar(text);
      },
      whole,
    },
    result: ({ text }) => text,
  };
  const begun = await beginAnalysis(depsOf(lettersOf(WORDS)), job, false);
  if (!('events' in begun)) throw new Error('refused');
  const never = new AbortController().signal;
  const heard: CoachEvent<string>[] = [];
  for await (const event of begun.events(never, never)) heard.push(event);

  expect(heard.at(-1)).toEqual({ event: 'done', data: WORDS.trim() });
  const told = heard.flatMap(({ event, data }) => (event === 'text' ? [data.delta] : []));
  expect(told.join('')).toBe(WORDS.trim());
  expect(told.slice(0, 2)).toEqual(['O', 'n']);
  expect(Math.max(...told.map((delta) => delta.length))).toBeLessThan(WORDS.length / 32);
  expect(read).toBeLessThan(100 * WORDS.length);
});
