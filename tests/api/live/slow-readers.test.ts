/** A client that opens the stream of changes and never reads it. */
import { Hono } from 'hono';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { streamChanges } from '#server/functions/read-days.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { ChangeStreams, StreamEvent } from '#server/functions/change-streams.ts';

/** docs/specification/live.md 4 */
const MAX_UNREAD_EVENTS = 200;
/** Ends the test if nothing disconnects the client. */
const MANY_EVENTS = 2_000;

test('a client that reads nothing is disconnected after 200 events, and its stream ends', async () => {
  let sent = 0;
  const ended = Promise.withResolvers<void>();
  async function* events(disconnected: AbortSignal): AsyncGenerator<StreamEvent> {
    for (; !disconnected.aborted && sent < MANY_EVENTS; sent += 1) {
      yield { event: 'resync', data: {} };
      await nextTurn();
    }
    ended.resolve();
  }
  const changeStreams: ChangeStreams = { start() {}, open: () => events, size: () => 1, stop: async () => undefined };
  const deps = { config: { publishableKey: '' }, accessTokens: { verify: () => Promise.reject(new Error('unused')) } };
  const answer = streamChanges({ ...deps, changeStreams });
  const caller = { userId: 'ada', identity: { role: 'authenticated', claimsJson: '{}' } } as const;
  const response = await new Hono<AppEnv>().get('/', (context) => answer(context, caller)).request('/');
  await ended.promise;
  expect(sent).toBe(MAX_UNREAD_EVENTS);
  await expect(response.text()).rejects.toThrow('does not read');
});
