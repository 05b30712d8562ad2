/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Clients read them with `fetch`,
 * because an `EventSource` can neither POST nor send a token in a header.
 */
export type StreamEvent = {
  event: string;
  data: unknown;
  /** A client sends the last id as `Last-Event-ID` when it connects again. */
  id?: string;
};

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
export const formatEvent = ({ event, data, id }: StreamEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Always consumes `events` to its end. The signal that `events` receives aborts when the client disconnects.
 *
 * Threat: a client that stops reading. Its events wait in memory, so the client is disconnected once more than
 * `maxUnread` of them do.
 */
export function eventStream(
  events: (disconnected: AbortSignal) => AsyncIterable<StreamEvent>,
  { maxUnread = Infinity }: { maxUnread?: number } = {},
): Response {
  const disconnected = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      const send = (text: string): void => {
        if (disconnected.signal.aborted) return;
        stream.enqueue(encoder.encode(text));
        if (-stream.desiredSize! < maxUnread) return;
        disconnected.abort();
        stream.error(new Error('the client does not read its events'));
      };
      // Flushes the response headers at once.
      send(': begun\n\n');
      const heartbeat = setInterval(() => send(HEARTBEAT), HEARTBEAT_MS);
      void (async () => {
        try {
          for await (const event of events(disconnected.signal)) send(formatEvent(event));
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
