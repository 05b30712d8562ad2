/** The error response of the two payment functions. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../http/app-env.ts';

export const refusal = (context: Context<AppEnv>, status: ContentfulStatusCode, error: string): Response =>
  context.json({ success: false, error }, status);
