/**
 * `fetch` for requests to an AI provider.
 *
 * Threat: a compromised endpoint or proxy redirects the request to another host. `fetch` strips `Authorization` on such
 * a redirect, but not other key headers or the journal in the body. Or the endpoint sends an endless answer, which the
 * SDK would buffer in memory. So redirects are not followed and the answer's size is limited.
 */

/** The longest answer, 6,144 tokens, takes about 3 MB when each token comes in a chunk with the protocol's overhead. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export class AnswerTooLongError extends Error {
  constructor() {
    super('the answer exceeds the size limit');
    this.name = 'AnswerTooLongError';
  }
}

export const guardedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const { body, status, statusText, headers } = response;
  return body
    ? new Response(body.pipeThrough(limitBytes(MAX_ANSWER_BYTES)), { status, statusText, headers })
    : response;
};

/** Counts decompressed bytes. Threat: a decompression bomb. */
function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, stream) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) stream.error(new AnswerTooLongError());
      else stream.enqueue(chunk);
    },
  });
}
