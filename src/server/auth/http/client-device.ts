import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { clientAddress } from '#server/http/requests/client-address.ts';
import type { Device } from './device.ts';
import type { AuthDeps } from './auth-deps.ts';

const MAX_USER_AGENT_LENGTH = 500;

export const deviceOf = (context: Context<AppEnv>, { config }: AuthDeps): Device => ({
  ip: clientAddress(context, config.auth),
  userAgent: context.req.header('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
});
