/** Parses server-sent events (HTML standard, "interpreting an event stream"). */
import { createParser } from 'eventsource-parser';

/** `id`: the id of this event, if it has one. */
export type StreamEvent = { event: string; data: string; id?: string | undefined };

/**
 * The returned function takes the next piece of the stream, split anywhere, and returns the events that it completes.
 */
export function createEventParser(): (piece: string) => StreamEvent[] {
  let events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => void events.push({ event, data, id }),
  });
  return (piece) => {
    events = [];
    parser.feed(piece);
    return events;
  };
}
