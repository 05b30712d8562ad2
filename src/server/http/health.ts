/** Liveness, readiness and metrics endpoints. */
import { Hono, type Context } from 'hono';
import { isLoopback } from '../config/private-network.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { singleFlight } from '#server/load/single-flight.ts';
import type { AppEnv } from './app-env.ts';
import { clientAddress } from './client-address.ts';
import { errorResponse } from './error-response.ts';
import type { Metrics } from './metrics.ts';

const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Shorter than the time-out of a balancer's probe, which is 3 s in deploy/kubernetes. */
const MAX_CHECK_MS = 2_000;

type HealthDeps = { config: Config; database: Database; metrics: Metrics };

export function healthRoutes({ config, database, metrics }: HealthDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();

  /**
   * Threat: a stranger asks thousands of times at once. With a check each, the queue of the database would be full, and
   * a balancer that is answered 503 would take all servers out.
   *
   * The limit is part of the check: after a check that hangs, the next probe asks again, on another connection.
   */
  const isReady = singleFlight(() => {
    const tooLate = new Promise<boolean>((resolve) => setTimeout(resolve, MAX_CHECK_MS, false).unref());
    return Promise.race([database.isReady().catch(() => false), tooLate]);
  });
  /** Threat: with `METRICS=open`, or from a program on this machine, each request would ask all workers. */
  const readMetrics = singleFlight(() => metrics.text());

  routes.get('/healthz', (context) => context.json({ status: 'up' }));
  routes.get('/readyz', async (context) => {
    const ready = await isReady();
    return context.json({ status: ready ? 'ready' : 'not ready' }, ready ? 200 : 503);
  });
  routes.get('/metrics', async (context) => {
    if (!canReadMetrics(context, config)) return errorResponse(context, 'not_found');
    return context.text(await readMetrics(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  return routes;
}

/**
 * Threat: a stranger reads traffic figures through a proxy on this machine, which connects from loopback. Forwarded
 * requests are rejected, unless CLIENT_ADDRESS_HEADER names the header with the client's address; that address is then
 * checked.
 */
function canReadMetrics(context: Context<AppEnv>, { auth, metrics }: Config): boolean {
  if (metrics !== 'loopback') return metrics === 'open';
  const isForwarded =
    auth.clientAddressHeader === null && FORWARDING_HEADERS.some((name) => context.req.header(name) !== undefined);
  return !isForwarded && isLoopback(clientAddress(context, auth));
}
