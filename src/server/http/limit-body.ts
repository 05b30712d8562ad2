/** Refuses a body that is too large before it is read. */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { AppEnv } from './app-env.ts';
import { errorAnswer } from './error-answer.ts';

/** `others` are the addresses with a limit of their own. */
export function limitBody(maxBytes: number, others: Readonly<Record<string, number>> = {}): MiddlewareHandler<AppEnv> {
  const limit = limitTo(maxBytes);
  const limits = new Map(Object.entries(others).map(([path, bytes]) => [path, limitTo(bytes)]));
  return (context, next) => (limits.get(context.req.path) ?? limit)(context, next);
}

/** A request that states its length is judged by it alone; counting bytes would touch the body of every save. */
function limitTo(maxBytes: number): MiddlewareHandler<AppEnv> {
  const countBytes = bodyLimit({ maxSize: maxBytes, onError: (context) => errorAnswer(context, 'payload_too_large') });
  return (context, next) => {
    if (context.req.method === 'GET') return next();
    const stated = context.req.header('content-length');
    if (stated === undefined) return context.req.header('transfer-encoding') ? countBytes(context, next) : next();
    return Number(stated) > maxBytes ? Promise.resolve(errorAnswer(context, 'payload_too_large')) : next();
  };
}
