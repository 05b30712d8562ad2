/** What the browser sends about a payment. None of it is believed: it only has to agree with what the server knows. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../http/app-env.ts';

export async function readBody(context: Context<AppEnv>): Promise<Record<string, unknown>> {
  const body: unknown = await context.req.json().catch(() => null);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

export const refusal = (context: Context<AppEnv>, status: ContentfulStatusCode, error: string): Response =>
  context.json({ success: false, error }, status);
