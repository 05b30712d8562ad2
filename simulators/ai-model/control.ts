/** HTTP endpoints with which tests and scripts control the model simulator. */
import { Hono } from 'hono';
import type { Fault } from './faults.ts';
import type { ModelControl } from './simulator.ts';

/** Mounted at `/__simulator` below the model's own address. */
export function controlRoutes(control: ModelControl): Hono {
  const app = new Hono();
  app.onError((error, context) => context.json({ error: error.message }, 400));
  app.get('/requests', (context) => context.json(control.requests()));
  app.get('/faults', (context) => context.json(control.faults()));
  app.post('/fail', async (context) => {
    control.fail(await context.req.json<Fault>());
    return context.body(null, 204);
  });
  app.post('/release', (context) => context.json({ released: control.release() }));
  app.post('/held', async (context) => {
    const { count } = await context.req.json<{ count?: number }>();
    await control.whenHeld(count);
    return context.body(null, 204);
  });
  app.post('/pace', async (context) => {
    control.pace((await context.req.json<{ ms: number }>()).ms);
    return context.body(null, 204);
  });
  app.post('/reset', (context) => {
    control.reset();
    return context.body(null, 204);
  });
  return app;
}
