/** Hono environment of every request: Node's request and response, and the variables that middleware sets. */
import type { HttpBindings } from '@hono/node-server';

/** `isFresh`: asks the database whether the session has ended, even if this process has just asked. */
export type VerifyOptions = { isFresh?: boolean };

export type AppEnv = {
  /** Absent when a test calls `app.request()` without a socket. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** Set after authentication. The request log writes it. */
    userId?: string;
    /** For a pattern with a parameter: the route with its allow-listed name. Logged and counted instead of the pattern. */
    route?: string;
    /** The id of the request's trace, for the request's log line. Unset without traces. */
    traceId?: string;
    /** Set by `limitBody` for `readText` and `readBytes`. */
    maxBodyBytes?: number;
    /** Set after authentication. Authenticates again, and throws if the session or the access token has ended since. */
    authenticateAgain?: (options?: VerifyOptions) => Promise<unknown>;
  };
};
