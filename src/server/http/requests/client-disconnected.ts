/** Whether the client disconnected before it sent the whole request. Errors of such a request are not logged. */
import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';

export function isClientDisconnected<E extends AppEnv>(context: Context<E>): boolean {
  const incoming = context.env?.incoming;
  return incoming !== undefined && incoming.destroyed && !incoming.complete;
}
