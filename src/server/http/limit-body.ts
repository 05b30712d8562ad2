/**
 * Limits the size of request bodies and reads them.
 *
 * Threat: unauthenticated clients exhaust memory with large bodies. The body is read only when a handler requests it,
 * on protected routes after it checked the access token; the body of a rejected request is discarded unread.
 *
 * Threat: a client sends its body in pieces of one byte. Node hands over each piece as an object of over 100 bytes, so
 * a body is copied into one buffer as it arrives. `connection-guard.ts` bounds the number of pieces.
 *
 * Threat: the thief of a session keeps requests open for a minute, and sends their last bytes after the owner has
 * signed out everywhere. The caller is therefore authenticated again once the body has arrived.
 */
import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from './app-env.ts';
import { holdBody } from '#server/load/request-context.ts';
import { errorResponse } from './error-response.ts';

export class BodyTooLargeError extends Error {
  constructor() {
    super('the request body is too large');
    this.name = 'BodyTooLargeError';
  }
}

type RejectBody = (context: Context<AppEnv>) => Response;

const rejectTooLarge: RejectBody = (context) => errorResponse(context, 'payload_too_large');

/** The first buffer of a body; it doubles as the body grows. */
const FIRST_BUFFER_BYTES = 16 * 1024;

/**
 * Rejects a request whose Content-Length exceeds the limit, and sets the limit for `readText` and `readBytes`.
 * `limitsByPath` overrides `maxBytes` for single paths.
 */
export function limitBody(
  maxBytes: number,
  {
    limitsByPath = {},
    reject = rejectTooLarge,
  }: { limitsByPath?: Readonly<Record<string, number>>; reject?: RejectBody } = {},
): MiddlewareHandler<AppEnv> {
  const limits = new Map(Object.entries(limitsByPath));
  return (context, next) => {
    if (context.req.method === 'GET') return next();
    const limit = limits.get(context.req.path) ?? maxBytes;
    context.set('maxBodyBytes', limit);
    const contentLength = context.req.header('content-length');
    return contentLength !== undefined && Number(contentLength) > limit ? Promise.resolve(reject(context)) : next();
  };
}

/**
 * Reads the body as UTF-8 text. Throws a BodyTooLargeError, a BusyError while large bodies take too much memory, or
 * another error if the client or its session has gone.
 */
export async function readText(context: Context<AppEnv>): Promise<string> {
  const bytes = await readBytes(context);
  const text = new TextDecoder().decode(bytes);
  free(bytes);
  return text;
}

/**
 * Gives memory back at once. Threat: a flood of the largest bodies; V8 would keep hundreds of megabytes of their
 * buffers until a collection.
 */
function free({ buffer, length }: Uint8Array): void {
  // Small buffers of Node share one block of memory.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

/** As `readText`. `maxBytes` replaces the route's limit if it is lower. */
export async function readBytes(context: Context<AppEnv>, maxBytes = Infinity): Promise<Uint8Array> {
  const limit = Math.min(context.get('maxBodyBytes') ?? 0, maxBytes);
  const stated = Number(context.req.header('content-length') ?? NaN);
  if (stated > limit) throw new BodyTooLargeError();
  // A body without a Content-Length may take as much as is allowed.
  const isChunked = context.req.header('transfer-encoding') !== undefined;
  holdBody(isChunked ? limit : stated || 0);
  const incoming = context.env?.incoming;
  // A client that has left (or a test without a socket): the adapter returns the body if Node had received all of it,
  // at most 64 KB.
  const hasLeft = !incoming || incoming.destroyed || incoming.readableDidRead;
  const body = hasLeft
    ? new Uint8Array(await context.req.arrayBuffer())
    : await collectBody(incoming, { limit, stated });
  if (body.length > limit) throw new BodyTooLargeError();
  await context.get('authenticateAgain')?.();
  return body;
}

/** Rejects with a BodyTooLargeError, or once the client disconnects. `stated`: the Content-Length, or NaN. */
function collectBody(incoming: IncomingMessage, { limit, stated }: { limit: number; stated: number }) {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;
  const most = Number.isNaN(stated) ? limit : stated;

  function append(piece: Buffer): void {
    const needed = length + piece.length;
    if (needed > limit) {
      finish();
      // The adapter discards the rest once the request is answered.
      incoming.pause();
      reject(new BodyTooLargeError());
      return;
    }
    // Most bodies arrive in one piece, which needs no copy.
    if (piece.length === stated) buffer = piece;
    else {
      if (needed > buffer.length) {
        const size = Math.min(most, Math.max(buffer.length * 2, FIRST_BUFFER_BYTES));
        const grown = Buffer.allocUnsafeSlow(Math.max(needed, size));
        buffer.copy(grown, 0, 0, length);
        free(buffer);
        buffer = grown;
      }
      piece.copy(buffer, length);
      free(piece);
    }
    length = needed;
  }
  function end(): void {
    finish();
    resolve(buffer.subarray(0, length));
  }
  function disconnect(error?: Error): void {
    if (!incoming.complete) {
      finish();
      reject(error ?? new Error('the client disconnected before it sent the whole body'));
      return;
    }
    // The whole body has arrived, but a destroyed stream emits neither its last pieces nor `end`.
    const rest = incoming.read() as Buffer | null;
    if (rest) append(rest);
    end();
  }
  function finish(): void {
    incoming.off('data', append).off('end', end).off('error', disconnect).off('close', disconnect);
  }

  incoming.on('data', append).on('end', end).on('error', disconnect).on('close', disconnect);
  return promise;
}
