import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { FaultQueue } from '../fault-queue.ts';
import type { IdentityFault } from './faults.ts';

/** `fault` changes the ID token of this request. */
export type IdentityEnv = { Bindings: HttpBindings; Variables: { fault?: IdentityFault } };

/** @param basePath is cut off before the path is compared with the faults' paths */
export function applyFaults(faults: FaultQueue<IdentityFault>, basePath: string): MiddlewareHandler<IdentityEnv> {
  return async (context, next) => {
    const path = context.req.path.slice(basePath.length);
    if (path.startsWith('/__simulator')) return next();
    const fault = faults.take({ method: context.req.method, path });
    if (fault === null) return next();
    if (fault.drop !== undefined) {
      if (fault.drop === 'after') await next();
      context.env.outgoing.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    if (fault.status !== undefined) return context.json(fault.body ?? {}, fault.status as ContentfulStatusCode);
    context.set('fault', fault);
    return next();
  };
}
