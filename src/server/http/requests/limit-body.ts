/**
 * Limits the size of request bodies and reads them.
 *
 * Threat: unauthenticated clients exhaust memory with large bodies. The body is read only when a handler requests it,
 * on protected routes after it checked the access token; the body of a rejected request is discarded unread.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { holdBody } from '#server/load/request-context.ts';
import { errorResponse } from '../error-response.ts';

export class BodyTooLargeError extends Error {
  constructor() {
    super('the request body is too large');
    this.name = 'BodyTooLargeError';
  }
}

type RejectBody = (context: Context<AppEnv>) => Response;

const rejectTooLarge: RejectBody = (context) => errorResponse(context, 'payload_too_large');

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

/** Reads the body as UTF-8 text. Throws BodyTooLargeError, or BusyError while large bodies take too much memory. */
export async function readText(context: Context<AppEnv>): Promise<string> {
  holdBody(maxLength(context));
  return hasUnknownLength(context) ? new TextDecoder().decode(await readStream(context)) : context.req.text();
}

/** As `readText`. */
export async function readBytes(context: Context<AppEnv>): Promise<Uint8Array> {
  holdBody(maxLength(context));
  return hasUnknownLength(context) ? readStream(context) : new Uint8Array(await context.req.arrayBuffer());
}

/** A body without a known length may take as much as is allowed. */
function maxLength(context: Context<AppEnv>): number {
  const contentLength = context.req.header('content-length');
  if (contentLength !== undefined) return Number(contentLength);
  return hasUnknownLength(context) ? (context.get('maxBodyBytes') ?? 0) : 0;
}

/**
 * Whether the bytes of the body must be counted. With a Content-Length, which `limitBody` has checked, Node reads no more
 * bytes, and counting would slow down every save.
 */
const hasUnknownLength = ({ req }: Context<AppEnv>): boolean =>
  req.header('content-length') === undefined && req.header('transfer-encoding') !== undefined;

async function readStream(context: Context<AppEnv>): Promise<Uint8Array> {
  const limit = context.get('maxBodyBytes') ?? 0;
  const reader = context.req.raw.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    bytes += chunk.value.byteLength;
    if (bytes > limit) throw new BodyTooLargeError();
    chunks.push(chunk.value);
  }
  return Buffer.concat(chunks);
}
