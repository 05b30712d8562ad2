import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { FaultQueue } from '../faults.ts';
import { breakConnection, type HostEnv } from '../host.ts';

/** `fault` changes the ID token of this request. */
export type IdentityEnv = HostEnv & { Variables: { fault?: IdentityFault } };

/** @param basePath is cut off before the path is compared with the faults' paths */
export function applyFaults(faults: FaultQueue<IdentityFault>, basePath: string): MiddlewareHandler<IdentityEnv> {
  return async (context, next) => {
    const path = context.req.path.slice(basePath.length);
    if (path.startsWith('/__simulator')) return next();
    const fault = faults.take({ method: context.req.method, path });
    if (fault === null) return next();
    if (fault.drop !== undefined) {
      if (fault.drop === 'after') await next();
      return breakConnection(context);
    }
    if (fault.status !== undefined) return context.json(fault.body ?? {}, fault.status as ContentfulStatusCode);
    context.set('fault', fault);
    return next();
  };
}

export type IdentityFault = {
  method?: string;
  /** A regular expression for the path below `/sandbox/identity`, such as `/google/token$`. Default: any path. */
  path?: string;
  /** How many requests are affected; 1 unless set. */
  times?: number;
  /** Answers with this status, and with `body` as JSON, instead of doing the work. */
  status?: number;
  body?: unknown;
  /** Breaks the connection: before the work, or after it (the answer is lost). */
  drop?: 'before' | 'after';
  /** Changes claims of the ID token; undefined removes a claim. */
  claims?: Record<string, unknown>;
  /** Signs the ID token with a key that is not published, or not at all. */
  signature?: 'foreign' | 'none';
};
