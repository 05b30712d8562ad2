/** Refuses a body that is too large before it is read. */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { AppEnv } from './app-env.ts';
import { errorAnswer } from './error-answer.ts';

/** A request that states its length is judged by it alone; counting bytes would touch the body of every save. */
export function limitBody(maxBytes: number): MiddlewareHandler<AppEnv> {
  const countBytes = bodyLimit({ maxSize: maxBytes, onError: (context) => errorAnswer(context, 'payload_too_large') });
  return (context, next) => {
    if (context.req.method === 'GET') return next();
    const stated = context.req.header('content-length');
    if (stated === undefined) return context.req.header('transfer-encoding') ? countBytes(context, next) : next();
    return Number(stated) > maxBytes ? Promise.resolve(errorAnswer(context, 'payload_too_large')) : next();
  };
}
