/** Parses untrusted JSON; undefined if it is invalid or can hold more than `maxValues` values (`hasMoreValues`). */
export function parseJson(text: string, maxValues = Infinity): unknown {
  if (maxValues !== Infinity && hasMoreValues(text, maxValues)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether a JSON text can hold more than `limit` values (list items, fields, lists, objects), without parsing it.
 *
 * Threat: `JSON.parse` and code that walks its result block the event loop in proportion to the number of values, and
 * a megabyte holds half a million. This scan allocates nothing, skips over strings, and ends where the limit is passed.
 */
export function hasMoreValues(text: string, limit: number): boolean {
  let values = 0;
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if ((code === COMMA || code === BRACE || code === BRACKET) && (values += 1) > limit) return true;
    }
    at = quote === -1 ? end : endOfString(text, quote);
  }
  return false;
}

const COMMA = 44;
const BRACKET = 91;
const BACKSLASH = 92;
const BRACE = 123;

/** The place behind the string that begins at `start`, or the end of a text whose string does not end. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Reads the body of a provider's response as text. Throws when the body is larger than `maxBytes`. */
export async function readResponseText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
