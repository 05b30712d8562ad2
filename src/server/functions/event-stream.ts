/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the response to a POST.
 * Clients read them with `fetch`, because an `EventSource` can neither POST nor send a token.
 */
export type StreamEvent = { event: string; data: unknown };

/** A heartbeat keeps the connection open: proxies and the server itself (`http/listen.ts`) close idle connections. */
const HEARTBEAT_MS = 10_000;
const HEARTBEAT = ': still here\n\n';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-store: private data. no-transform: a proxy that compresses also buffers.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** `JSON.stringify` escapes line breaks, so the data always fits one line. */
export const frame = ({ event, data }: StreamEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Always consumes `events` to its end. The signal that `events` receives aborts when the client disconnects. */
export function eventStream(events: (disconnected: AbortSignal) => AsyncIterable<StreamEvent>): Response {
  const disconnected = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      const send = (text: string): void => {
        if (!disconnected.signal.aborted) stream.enqueue(encoder.encode(text));
      };
      // Flushes the response headers at once.
      send(': begun\n\n');
      const heartbeat = setInterval(() => send(HEARTBEAT), HEARTBEAT_MS);
      void (async () => {
        try {
          for await (const event of events(disconnected.signal)) send(frame(event));
          if (!disconnected.signal.aborted) stream.close();
        } catch (error) {
          if (!disconnected.signal.aborted) stream.error(error);
        } finally {
          clearInterval(heartbeat);
        }
      })();
    },
    cancel: () => disconnected.abort(),
  });
  return new Response(body, { headers: HEADERS });
}
