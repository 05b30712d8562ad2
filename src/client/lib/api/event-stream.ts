/** Reads server-sent events (HTML standard, "interpreting an event stream"). */
import { createParser } from 'eventsource-parser';

/** `id`: the id of this event, if it has one. */
export type StreamEvent = { event: string; data: string; id?: string | undefined };

/**
 * The returned function takes the next piece of the stream, split anywhere, and returns the events that it completes.
 */
export function createEventParser(): (piece: string) => StreamEvent[] {
  let events: StreamEvent[] = [];
  const parser = createParser({ onEvent: ({ event = 'message', data, id }) => void events.push({ event, data, id }) });
  return (piece) => {
    events = [];
    parser.feed(piece);
    return events;
  };
}

/** Returns the body of an event stream; null for an error or another content type. */
export function eventStreamOf(response: Response): ReadableStream<Uint8Array> | null {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return response.ok && isStream ? response.body : null;
}

/**
 * Yields the events until the stream ends. Calls `onBytes` for each piece, also for a heartbeat, which is not an event,
 * so that the caller can detect a dead connection.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parse = createEventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    yield* parse(decoder.decode(value, { stream: true }));
  }
}
