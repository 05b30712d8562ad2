/** Whether the caller went away in the middle of the request: no fault of ours, and nobody is there to be answered. */
import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';

export function isClientDisconnected<E extends AppEnv>(context: Context<E>): boolean {
  const incoming = context.env?.incoming;
  return incoming !== undefined && incoming.destroyed && !incoming.complete;
}
