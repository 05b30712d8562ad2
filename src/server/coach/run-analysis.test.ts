import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { CoachEvent } from '#domain/coach/coach.ts';
import { day } from '#domain/day/day.ts';
import type { CoachStore } from './coach-store.ts';
import type { CoachModel } from './model/model.ts';
import { reviewReplyParser } from './parse-review.ts';
import { beginAnalysis, type Job, type RunDeps } from './run-analysis.ts';
import { NO_EVENTS } from '../metrics/events.ts';

const REPLY = 'On most days you finished what you had begun. '.repeat(200);

function createDeps(texts: Iterable<string>): RunDeps {
  const model: CoachModel = {
    async *stream() {
      for (const text of texts) yield { type: 'reply', text };
      yield { type: 'end', finish: 'stop', rawFinish: null, modelVersion: null, inputTokens: 1, outputTokens: 1 };
    },
    describe: () => ({ provider: 'none', model: 'none', replies: 'text' }),
  };
  const store: Partial<CoachStore> = {
    claim: async () => true,
    isStillAllowed: async () => true,
    findByInput: async () => null,
    purgeAndReadTries: async () => ({ tries: 1, running: 1, resetInSeconds: 1 }),
    storeAnalysis: async () => ({ written: null, at: new Date(0) }),
  };
  const limits = { timeoutMs: 60_000, dailyLimit: 1 };
  return {
    store: store as CoachStore,
    model,
    limits,
    events: NO_EVENTS,
    log: pino({ enabled: false }),
    clock: { now: () => new Date(0) },
  };
}

function* growingPrefixes(text: string): Generator<string> {
  for (let length = 1; length <= text.length; length += 1) yield text.slice(0, length);
}

const JOB: Job<string> = {
  userId: 'u',
  identity: { role: 'authenticated', claimsJson: '{}' },
  kind: 'trend',
  key: 'k',
  target: { from: day('2026-11-14'), to: day('2026-11-20'), logs: [], review: null },
  prompt: { instructions: 'Look.', textInstructions: null, data: '{}' },
  schema: null,
  maxOutputTokens: 9,
  parser: reviewReplyParser(new Set()),
  toResult: ({ text }) => text,
};

test('streams the first characters at once and parses a reply in linear time', async () => {
  const { parsePartial, parseFinal } = JOB.parser;
  let parsedChars = 0;
  const parser = {
    parsePartial(text: string) {
      parsedChars += text.length;
      return parsePartial(text);
    },
    parseFinal,
  };
  const analysis = await beginAnalysis(createDeps(growingPrefixes(REPLY)), { ...JOB, parser }, false);
  if (!('events' in analysis)) throw new Error('refused');
  const never = new AbortController().signal;
  const received: CoachEvent<string>[] = [];
  for await (const event of analysis.events(never, never)) received.push(event);

  expect(received.at(-1)).toEqual({ event: 'done', data: REPLY.trim() });
  const deltas = received.flatMap(({ event, data }) => (event === 'text' ? [data.delta] : []));
  expect(deltas.join('')).toBe(REPLY.trim());
  expect(deltas.slice(0, 2)).toEqual(['O', 'n']);
  expect(Math.max(...deltas.map((delta) => delta.length))).toBeLessThan(REPLY.length / 32);
  expect(parsedChars).toBeLessThan(100 * REPLY.length);
});

test.each([
  [3, { events: expect.any(Function) as unknown }],
  [4, { refused: 'running' }],
])('claims the run again while another one holds it: %i times', async (heldClaims, outcome) => {
  let claims = 0;
  const { store, ...deps } = createDeps([REPLY]);
  const claim = async () => (claims += 1) > heldClaims;
  expect(await beginAnalysis({ ...deps, store: { ...store, claim } }, JOB, false)).toEqual(outcome);
  expect(claims).toBe(4);
});
