/** POST /sso: sends the browser to a SAML identity provider (docs/specification/api.md 29). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { isAllowedTarget, redirectTarget } from '../http/redirects.ts';
import { UUID } from '../keys/access-tokens.ts';
import { bindBrowser } from '../providers/browser-binding.ts';
import { createFlow, parseChallenge, type FlowRow } from '../sessions/flows.ts';
import { parseIdpMetadata } from './idp-metadata.ts';
import { identityProviderOf } from './saml-identity.ts';
import { createServiceProvider, newFlowRequestCache } from './service-provider.ts';
import { findSsoProvider, findSsoProviderByDomain, type SsoProvider } from './sso-providers.ts';

type Given = { body: Body; requireCaptcha: () => Promise<void> };

export const startSso: Endpoint<Given> = async (context, deps, { body, requireCaptcha }) => {
  const [id, domain] = [body.text('provider_id'), body.text('domain')];
  if (id !== '' && domain !== '') throw invalidRequest('Only one of provider_id or domain supported');
  if (id === '' && domain === '') throw invalidRequest('A provider_id or domain needs to be provided');
  await requireCaptcha();
  const challenge = parseChallenge(body.text('code_challenge'), body.text('code_challenge_method'));
  const skipsRedirect = body.flag('skip_http_redirect', false);
  const provider = await findEnabledProvider(deps, { id, domain });
  const now = deps.clock.now();
  const url = await deps.database.transactAsService('start a SAML flow', async (transaction) => {
    const flow = await createFlow(transaction, {
      method: 'sso/saml',
      provider: identityProviderOf(provider),
      challenge,
      redirectTo: readTarget(context, deps, body),
      // PKCE binds the flow to its client, so only a flow without it needs the cookie.
      ...(challenge === null && { browserHash: bindBrowser(context, deps) }),
      now,
    });
    return buildSignInUrl(deps, provider, flow, newFlowRequestCache(transaction, flow, provider.id, now));
  });
  return skipsRedirect ? context.json({ url }) : context.redirect(url, 303);
};

async function findEnabledProvider(
  { database }: AuthDeps,
  { id, domain }: { id: string; domain: string },
): Promise<SsoProvider> {
  const service = database.asService('find an SSO provider');
  if (id !== '') {
    const provider = UUID.test(id) ? await findSsoProvider(service, id) : null;
    if (!provider) throw new AuthError('sso_provider_not_found');
    if (provider.disabled) throw new AuthError('sso_provider_disabled');
    return provider;
  }
  const provider = await findSsoProviderByDomain(service, domain);
  if (!provider) throw new AuthError(404, 'sso_provider_not_found', 'No SSO provider assigned for this domain');
  if (provider.disabled) throw new AuthError('sso_provider_disabled');
  return provider;
}

/** Unlike the other routes, this one also reads `redirect_to` from the body. */
function readTarget(context: Context<AppEnv>, { config }: AuthDeps, body: Body): string {
  const target = body.text('redirect_to');
  return isAllowedTarget(target, config) ? target : redirectTarget(context, config);
}

/**
 * The relay state is the flow's id. It is no secret: the response is bound to the request, and the flow to the browser.
 */
function buildSignInUrl(
  deps: AuthDeps,
  provider: SsoProvider,
  flow: FlowRow,
  requests: ReturnType<typeof newFlowRequestCache>,
): Promise<string> {
  const metadata = parseIdpMetadata(provider.metadata_xml, deps.config);
  const serviceProvider = createServiceProvider({
    config: deps.config,
    samlKey: deps.samlKey!,
    metadata,
    requests,
  });
  return serviceProvider.getAuthorizeUrlAsync(flow.id, undefined, {});
}
