/** Our side of SAML 2.0 towards one identity provider (docs/specification/api.md 29). */
import { generateServiceProviderMetadata, SAML, ValidateInResponseTo, type CacheProvider } from '@node-saml/node-saml';
import type { Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables } from '#server/database/tables.ts';
import type { Endpoint, AuthDeps } from '../http/auth-deps.ts';
import type { SamlKey } from '../keys/key-file.ts';
import { createFlow, parseChallenge, type FlowRow } from '../sessions/flows.ts';
import { parseIdpMetadata, type IdpMetadata } from './idp-metadata.ts';
import { CLOCK_SKEW_MS } from './read-assertion.ts';
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Body } from '../http/body.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { isAllowedTarget, redirectTarget } from '../http/redirects.ts';
import { UUID } from '../keys/access-tokens.ts';
import { bindBrowser } from '../providers/browser-binding.ts';
import { identityProviderOf } from './saml-identity.ts';
import { findSsoProvider, findSsoProviderByDomain, type SsoProvider } from './sso-providers.ts';

type Home = { publicUrl: string };
/** Names this server to identity providers; also the address of its metadata. */
export const entityIdOf = ({ publicUrl }: Home): string => `${publicUrl}/auth/v1/sso/saml/metadata`;
export const acsUrlOf = ({ publicUrl }: Home): string => `${publicUrl}/auth/v1/sso/saml/acs`;

type ServiceProvider = { config: Home; samlKey: SamlKey; metadata: IdpMetadata; requests: CacheProvider };

export const createServiceProvider = ({ config, samlKey, metadata, requests }: ServiceProvider): SAML =>
  new SAML({
    issuer: entityIdOf(config),
    callbackUrl: acsUrlOf(config),
    audience: entityIdOf(config),
    entryPoint: metadata.signInUrl,
    idpIssuer: metadata.entityId,
    idpCert: metadata.certificates,
    privateKey: samlKey.privateKey,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    // The assertion carries its own signature; identity providers differ in whether they sign the response as well.
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    // Threat: replay, and a response that nobody asked for (a sign-in that the identity provider initiates).
    validateInResponseTo: ValidateInResponseTo.always,
    cacheProvider: requests,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    // The identity provider chooses the format of the name and how it authenticates its users.
    identifierFormat: null,
    disableRequestedAuthnContext: true,
  });

/** GET /sso/saml/metadata: what an identity provider needs to know of this server (docs/specification/api.md 29). */
export const showMetadata: Endpoint = (context, deps) => {
  const { privateKey, certificate } = deps.samlKey!;
  const xml = generateServiceProviderMetadata({
    issuer: entityIdOf(deps.config),
    callbackUrl: acsUrlOf(deps.config),
    privateKey,
    publicCerts: certificate,
    wantAssertionsSigned: true,
    identifierFormat: null,
    // A constant id, because the metadata is the same for every request.
    generateUniqueId: () => '_hustle-forge',
  });
  const isDownload = context.req.query('download') === 'true';
  return context.body(xml, 200, {
    'Content-Type': 'application/xml; charset=utf-8',
    'Cache-Control': 'public, max-age=600',
    ...(isDownload && { 'Content-Disposition': 'attachment; filename="metadata.xml"' }),
  });
};

export type SamlRequestRow = Selectable<Tables['auth.saml_requests']>;

/**
 * A cache in the database for node-saml. It stores the id of the authentication request that node-saml writes for the
 * flow, until the response arrives.
 */
export const newFlowRequestCache = (
  service: AsService,
  flow: FlowRow,
  providerId: string,
  now: Date,
): CacheProvider => ({
  async saveAsync(id, value) {
    await service.run(
      queryBuilder
        .insertInto('auth.saml_requests')
        .values({ id, flow_id: flow.id, provider_id: providerId, created_at: now, expires_at: flow.expires_at }),
    );
    return { value, createdAt: now.getTime() };
  },
  getAsync: () => Promise.resolve(null),
  removeAsync: () => Promise.resolve(null),
});

/**
 * Deletes the request of a flow. Null for all responses of the flow but the first.
 *
 * Threat: node-saml looks a request up and removes it in two steps, so a response that is sent twice at the same time
 * would pass twice. Each flow therefore accepts one response, valid or not, and node-saml sees only the claimed
 * request.
 */
export async function claimSamlRequest(service: AsService, flowId: string): Promise<SamlRequestRow | null> {
  const [request] = await service.run(
    queryBuilder.deleteFrom('auth.saml_requests').where('flow_id', '=', flowId).returningAll(),
  );
  return request ?? null;
}

/** Lets node-saml find only the claimed request. */
export const claimedRequestCache = (request: SamlRequestRow): CacheProvider => ({
  saveAsync: () => Promise.resolve(null),
  getAsync: (id) => Promise.resolve(id === request.id ? request.created_at.toISOString() : null),
  removeAsync: () => Promise.resolve(null),
});

type Given = { body: Body; requireCaptcha: () => Promise<void> };

/** POST /sso: sends the browser to a SAML identity provider (docs/specification/api.md 29). */
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

/** Unlike `redirectTarget`, it also reads `redirect_to` from the body. */
function readTarget(context: Context<AppEnv>, { config }: AuthDeps, body: Body): string {
  const target = body.text('redirect_to');
  return isAllowedTarget(target, config) ? target : redirectTarget(context, config);
}

/**
 * The relay state is the flow's id. It is not a secret: the response is bound to the request, and the flow to the
 * browser or the PKCE client.
 */
function buildSignInUrl(
  deps: AuthDeps,
  provider: SsoProvider,
  flow: FlowRow,
  requests: ReturnType<typeof newFlowRequestCache>,
): Promise<string> {
  const metadata = parseIdpMetadata(provider.metadata_xml, deps.config);
  const serviceProvider = createServiceProvider({ config: deps.config, samlKey: deps.samlKey!, metadata, requests });
  return serviceProvider.getAuthorizeUrlAsync(flow.id, undefined, {});
}
