/**
 * How a provider is asked.
 *
 * Threat: an endpoint, or whoever got in between, sends us elsewhere: `fetch` would take the key and the journal along,
 * because it only knows that `Authorization` is a secret. Or it answers without an end, which the library would read
 * into memory. So no redirect is followed, and no more is read than an answer can be.
 */

/** 6,144 tokens, each in a piece of its own, with all that a protocol writes around it, are about 3 MB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export class AnswerTooLongError extends Error {
  constructor() {
    super('the answer is longer than any answer of a model');
    this.name = 'AnswerTooLongError';
  }
}

export const guardedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const { body, status, statusText, headers } = response;
  return body ? new Response(body.pipeThrough(cutAfter(MAX_ANSWER_BYTES)), { status, statusText, headers }) : response;
};

/** Counts what was unpacked, not what was sent: a few bytes may become a flood. */
function cutAfter(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, stream) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) stream.error(new AnswerTooLongError());
      else stream.enqueue(piece);
    },
  });
}
