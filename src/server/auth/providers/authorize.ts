/** GET /authorize: sends the browser to a provider (docs/specification/wire.md 27). */
import type { Endpoint } from '../http/auth-deps.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { redirectTarget } from '../http/redirects.ts';
import { ProviderError } from './provider-error.ts';
import { redirectWithError } from './return-to-client.ts';
import { startProviderFlow } from './start-flow.ts';

/**
 * A faulty request gets an error as JSON, as in supabase/auth. An unreachable provider is reported by a redirect to the
 * client, because the browser navigates here and no script reads the response.
 */
export const authorize: Endpoint = async (context, deps) => {
  await deps.limits.consume('oauth', deviceOf(context, deps).ip);
  try {
    return context.redirect(await startProviderFlow(context, deps, null), 302);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ err: error, provider: context.req.query('provider') }, 'a provider cannot be reached');
    return redirectWithError(context, redirectTarget(context, deps.config), new AuthError('provider_unavailable'));
  }
};
