/** Reads the stream of changes (docs/specification/live.md 1). */
import { isDay } from '#domain/day/day.ts';
import type { LiveEvent } from '#domain/live/live-event.ts';
import { eventStreamOf, readEvents, type StreamEvent } from '#client/lib/api/event-stream.ts';
import type { IdentifiedEvent } from './live-state.ts';

export type StreamOutcome = { kind: 'closed' } | { kind: 'refused'; status: number; retryAfterMs: number };

export type StreamOptions = {
  /** Sends a request with the session of the user. */
  send: typeof fetch;
  url: string;
  lastEventId: string | null;
  signal: AbortSignal;
  onBytes: () => void;
  onEvent: (event: IdentifiedEvent) => void;
};

/** Resolves when the stream has ended, for whatever reason. Never rejects. */
export async function followChanges({
  send,
  url,
  lastEventId,
  signal,
  onBytes,
  onEvent,
}: StreamOptions): Promise<StreamOutcome> {
  try {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) };
    const response = await send(url, { headers, signal, cache: 'no-store' });
    const stream = eventStreamOf(response);
    if (!stream) {
      const seconds = Number(response.headers.get('retry-after') ?? 0);
      // A server or proxy that does not know this address may answer with an HTML page and status 200.
      const status = response.ok ? 404 : response.status;
      return { kind: 'refused', status, retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0 };
    }
    for await (const received of readEvents(stream, onBytes)) {
      const event = toLiveEvent(received);
      if (event) onEvent({ event, id: received.id ?? null });
    }
    return { kind: 'closed' };
  } catch {
    return { kind: 'closed' };
  }
}

/** Null for an event of a newer server, or one that cannot be read. */
function toLiveEvent({ event, data }: StreamEvent): LiveEvent | null {
  try {
    const value = JSON.parse(data) as { date?: unknown; stored?: unknown };
    if (event === 'ready' || event === 'resync' || event === 'end') return { event, data: value } as LiveEvent;
    if (event !== 'change' || !isDay(value.date) || typeof value.stored !== 'boolean') return null;
    return { event, data: value } as LiveEvent;
  } catch {
    return null;
  }
}
