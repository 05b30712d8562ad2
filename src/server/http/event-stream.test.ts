import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { unicodeText } from '../../../tests/support/unicode-text.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { eventStream, formatEvent, type StreamEvent } from './event-stream.ts';

afterEach(() => void vi.useRealTimers());

/**
 * Parses as the standard says: lines end with CR, LF or CRLF; an empty line dispatches; a leading colon is a comment.
 */
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
  unicodeText(),
  fc
    .array(fc.constantFrom('\n', '\r', '\n\n', 'data: ', 'event: done', ':', '\u2028', '"', '😀', '\u0000'))
    .map((parts) => parts.join('')),
);

test('any text survives a round trip through a frame', () => {
  const events = fc.array(
    fc.record({ event: fc.constantFrom('score', 'text', 'done'), data: fc.record({ delta: TEXT }) }),
  );
  fc.assert(
    fc.property(events, (written) => {
      expect(parse(written.map(formatEvent).join(''))).toEqual(written);
    }),
    { numRuns: fuzzBudget(1_000) },
  );
});

async function* all(...events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

describe('eventStream', () => {
  test('starts before the first event and ends after the last one', async () => {
    const never = Promise.withResolvers<never>();
    const pending = eventStream(async function* () {
      yield await never.promise;
    });
    const { value } = await pending.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe(': begun\n\n');

    const done = { event: 'done', data: { text: 'é\n' } };
    expect(parse(await eventStream(() => all(done)).text())).toEqual([done]);
  });

  test('forbids proxies to buffer or cache the stream', () => {
    const { headers } = eventStream(() => all());
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  test('sends a heartbeat every 10 seconds', async () => {
    vi.useFakeTimers();
    const ended = Promise.withResolvers<StreamEvent>();
    const stream = eventStream(async function* () {
      yield await ended.promise;
    });
    const text = stream.text();
    await vi.advanceTimersByTimeAsync(25_000);
    const done = { event: 'done', data: {} };
    ended.resolve(done);
    expect(await text).toBe(`: begun\n\n: still here\n\n: still here\n\n${formatEvent(done)}`);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('aborts the signal of its source and stops writing when the client disconnects', async () => {
    const aborted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const stream = eventStream(async function* (signal) {
      signal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      yield { event: 'text', data: 'dropped' };
      ended.resolve();
    });
    await stream.body!.cancel();
    await aborted.promise;
    await ended.promise;
    await setImmediate();
  });

  test('disconnects a client that leaves too many events unread, and ends the source', async () => {
    const ended = Promise.withResolvers<void>();
    const stream = eventStream(
      async function* (signal) {
        for (let number = 0; !signal.aborted; number += 1)
          yield { event: 'change', data: { number }, id: String(number) };
        ended.resolve();
      },
      { maxUnread: 5 },
    );
    await ended.promise;
    await expect(stream.text()).rejects.toThrow('does not read');
  });

  test('writes the id of an event before it', () => {
    expect(formatEvent({ event: 'change', data: {}, id: 'a.1' })).toBe('id: a.1\nevent: change\ndata: {}\n\n');
  });

  test('fails when its source fails instead of ending normally', async () => {
    const stream = eventStream(async function* () {
      yield { event: 'text', data: 'half' };
      throw new Error('broken');
    });
    await expect(stream.text()).rejects.toThrow('broken');
  });
});
