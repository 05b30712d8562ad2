/** Reads `GET /functions/v1/changes` event by event. */
import { createParser } from 'eventsource-parser';
import type { LiveEvent } from '#domain/live-event.ts';

export type ReceivedEvent = LiveEvent & { id: string | undefined };

export type ChangesReader = {
  readonly response: Response;
  /** All bytes so far, as text. */
  readonly raw: () => string;
  /** Resolves with the next event. Rejects once the stream has ended. */
  next(): Promise<ReceivedEvent>;
  close(): void;
};

export async function readChanges(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<ChangesReader> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/functions/v1/changes`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  const received: ReceivedEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data, id }) => void received.push({ event, data: JSON.parse(data), id } as ReceivedEvent),
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let raw = '';
  return {
    response,
    raw: () => raw,
    async next() {
      for (;;) {
        const event = received.shift();
        if (event) return event;
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream has ended');
        const piece = decoder.decode(value, { stream: true });
        raw += piece;
        parser.feed(piece);
      }
    },
    close: () => leaving.abort(),
  };
}
