import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { clientAddress } from '#server/http/client-address.ts';
import type { AuthDeps } from './auth-deps.ts';

/** The client of a request; `userAgent` is its header, cut to 500 characters. */
export type Device = { ip: string; userAgent: string | null };

const MAX_USER_AGENT_LENGTH = 500;

export const deviceOf = (context: Context<AppEnv>, { config }: AuthDeps): Device => ({
  ip: clientAddress(context, config.auth),
  userAgent: context.req.header('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
});
