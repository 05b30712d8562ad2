/**
 * Events as they happen, over one answer (https://html.spec.whatwg.org/multipage/server-sent-events.html). Read with
 * `fetch`, because an `EventSource` can neither POST nor carry a token; framed the same.
 */
export type StreamEvent = { event: string; data: unknown };

/** Proxies close what is silent, and so do we (`http/listen.ts`). */
const HEARTBEAT_MS = 10_000;
const HEARTBEAT = ': still here\n\n';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Somebody's journal; and what a proxy compresses it also holds back.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** JSON has no line breaks of its own, so one line holds it whatever it says. */
export const frame = ({ event, data }: StreamEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** `events` is read to its end in any case; its signal is aborted when the reader has left. */
export function eventStream(events: (left: AbortSignal) => AsyncIterable<StreamEvent>): Response {
  const left = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      const send = (text: string): void => {
        if (!left.signal.aborted) stream.enqueue(encoder.encode(text));
      };
      // Before anything is known, so that the reader's wait for headers is over.
      send(': begun\n\n');
      const heartbeat = setInterval(() => send(HEARTBEAT), HEARTBEAT_MS);
      void (async () => {
        try {
          for await (const event of events(left.signal)) send(frame(event));
          if (!left.signal.aborted) stream.close();
        } catch (error) {
          if (!left.signal.aborted) stream.error(error);
        } finally {
          clearInterval(heartbeat);
        }
      })();
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: HEADERS });
}
