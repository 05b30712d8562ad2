import type { Endpoint } from './auth-deps.ts';

/** An endpoint whose module is imported at its first request, so that its libraries cost no memory before. */
export const lazyEndpoint =
  (load: () => Promise<Endpoint>): Endpoint =>
  async (context, deps) =>
    (await load())(context, deps);
