/** For machines: is the process up, can it serve, and how is it doing. */
import { Hono } from 'hono';
import { isLoopback } from '../loopback.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from './app-env.ts';
import { clientAddress } from './client-address.ts';
import { errorAnswer } from './error-answer.ts';
import type { Metrics } from './metrics.ts';

type Deps = { config: Config; database: Database; metrics: Metrics };

export function healthRoutes({ config, database, metrics }: Deps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get('/healthz', (context) => context.json({ status: 'up' }));
  routes.get('/readyz', async (context) => {
    const ready = await database.isReady().catch(() => false);
    return context.json({ status: ready ? 'ready' : 'not ready' }, ready ? 200 : 503);
  });
  routes.get('/metrics', (context) => {
    // Threat: traffic figures in strangers' hands. A proxy on the same machine also arrives from loopback, but then the
    // operator has named its header and the address judged here is the visitor's.
    if (!config.openMetrics && !isLoopback(clientAddress(context, config.auth))) {
      return errorAnswer(context, 'not_found');
    }
    return context.text(metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  return routes;
}
