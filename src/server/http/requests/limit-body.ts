/**
 * Limits the size of request bodies, and reads them.
 *
 * Threat: a body costs memory before anybody knows whether its sender may send it. So nothing is read here before a
 * handler asks for it, which it does after it has checked the caller: a refused caller's body is discarded unread.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { errorResponse } from '../error-response.ts';

/** Thrown while a body without a stated length is read. */
export class BodyTooLargeError extends Error {
  constructor() {
    super('the request body is too large');
    this.name = 'BodyTooLargeError';
  }
}

type RejectBody = (context: Context<AppEnv>) => Response;

const answerTooLarge: RejectBody = (context) => errorResponse(context, 'payload_too_large');

/**
 * Refuses a request that states a larger length, and sets the limit for `readText` and `readBytes`.
 * `others` are the addresses with a limit of their own.
 */
export function limitBody(
  maxBytes: number,
  { others = {}, reject = answerTooLarge }: { others?: Readonly<Record<string, number>>; reject?: RejectBody } = {},
): MiddlewareHandler<AppEnv> {
  const limits = new Map(Object.entries(others));
  return (context, next) => {
    if (context.req.method === 'GET') return next();
    const limit = limits.get(context.req.path) ?? maxBytes;
    context.set('maxBodyBytes', limit);
    const stated = context.req.header('content-length');
    return stated !== undefined && Number(stated) > limit ? Promise.resolve(reject(context)) : next();
  };
}

/** The body as UTF-8 text. Throws BodyTooLargeError. */
export async function readText(context: Context<AppEnv>): Promise<string> {
  return hasUnknownLength(context) ? new TextDecoder().decode(await readStream(context)) : context.req.text();
}

/** Throws BodyTooLargeError. */
export async function readBytes(context: Context<AppEnv>): Promise<Uint8Array> {
  return hasUnknownLength(context) ? readStream(context) : new Uint8Array(await context.req.arrayBuffer());
}

/** A stated length was judged by `limitBody`, and Node reads no byte more; counting would touch the body of every save. */
const hasUnknownLength = ({ req }: Context<AppEnv>): boolean =>
  req.header('content-length') === undefined && req.header('transfer-encoding') !== undefined;

async function readStream(context: Context<AppEnv>): Promise<Uint8Array> {
  const limit = context.get('maxBodyBytes') ?? 0;
  const reader = context.req.raw.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    bytes += part.value.byteLength;
    if (bytes > limit) throw new BodyTooLargeError();
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}
