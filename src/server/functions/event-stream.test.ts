import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { eventStream, frame } from './event-stream.ts';
import type { StreamEvent } from './event-stream.ts';

afterEach(() => void vi.useRealTimers());

/** As the standard reads it: lines end with CR, LF or both, an empty one sends the event, one with a colon first is nothing. */
function parse(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let event = 'message';
  let data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') {
      if (data.length > 0) events.push({ event, data: JSON.parse(data.join('\n')) });
      event = 'message';
      data = [];
    } else if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
  }
  return events;
}

const TEXT = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\n', '\r', '\n\n', 'data: ', 'event: done', ':', '\u2028', '"', '😀', '\u0000'))
    .map((parts) => parts.join('')),
);

test('whatever a text holds, the events that are read are those that were written', () => {
  const events = fc.array(
    fc.record({ event: fc.constantFrom('score', 'text', 'done'), data: fc.record({ delta: TEXT }) }),
  );
  fc.assert(
    fc.property(events, (written) => {
      expect(parse(written.map(frame).join(''))).toEqual(written);
    }),
    { numRuns: fuzzBudget(1_000) },
  );
});

async function* all(...events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

describe('a stream', () => {
  test('begins before there is anything to tell, and ends after the last event', async () => {
    const nothing = Promise.withResolvers<never>();
    const waiting = eventStream(async function* () {
      yield await nothing.promise;
    });
    const { value } = await waiting.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe(': begun\n\n');

    const done = { event: 'done', data: { text: 'é\n' } };
    expect(parse(await eventStream(() => all(done)).text())).toEqual([done]);
  });

  test('is held back and kept by nobody on the way', () => {
    const { headers } = eventStream(() => all());
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  test('says every 10 seconds that it is still there', async () => {
    vi.useFakeTimers();
    const ended = Promise.withResolvers<StreamEvent>();
    const stream = eventStream(async function* () {
      yield await ended.promise;
    });
    const text = stream.text();
    await vi.advanceTimersByTimeAsync(25_000);
    const done = { event: 'done', data: {} };
    ended.resolve(done);
    expect(await text).toBe(`: begun\n\n: still here\n\n: still here\n\n${frame(done)}`);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('tells its source that the reader has left, and writes no more', async () => {
    const left = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const stream = eventStream(async function* (signal) {
      signal.addEventListener('abort', () => left.resolve());
      await left.promise;
      yield { event: 'text', data: 'to nobody' };
      ended.resolve();
    });
    await stream.body!.cancel();
    await left.promise;
    await ended.promise;
    await setImmediate();
  });

  test('breaks where its source breaks, instead of ending as if it were whole', async () => {
    const stream = eventStream(async function* () {
      yield { event: 'text', data: 'half' };
      throw new Error('broken');
    });
    await expect(stream.text()).rejects.toThrow('broken');
  });
});
