/** The fields of what a browser sent to a function; none where it sent no JSON object. None of them is believed yet. */
import type { Context } from 'hono';
import type { AppEnv } from '../http/app-env.ts';

export async function readBody(context: Context<AppEnv>): Promise<Record<string, unknown>> {
  const body: unknown = await context.req.json().catch(() => null);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
