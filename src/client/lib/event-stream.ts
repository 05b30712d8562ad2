/** Server-sent events out of the bytes of an answer, as the HTML standard has them ("interpreting an event stream"). */
export type StreamEvent = { event: string; data: string };

/** Takes text in pieces, cut anywhere, and answers the events that it completes. */
export function createEventParser(): (piece: string) => StreamEvent[] {
  let rest = '';
  let event = '';
  let data: string[] = [];
  return (piece) => {
    const events: StreamEvent[] = [];
    rest += piece;
    // A CR at the end may be the first half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
        event = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') event = value;
      if (field === 'data') data.push(value);
    }
    return events;
  };
}
