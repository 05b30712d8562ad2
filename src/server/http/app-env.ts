/** What every request carries through the app: Node's own request and response, and who is asking once that is known. */
import type { HttpBindings } from '@hono/node-server';

export type AppEnv = {
  /** Absent when a test calls `app.request()` without a socket. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** Set by whoever has verified an access token; the request log writes it. */
    userId?: string;
    /** Set by `limitBody`, for whoever reads the body. */
    maxBodyBytes?: number;
  };
};
