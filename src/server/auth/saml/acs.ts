/**
 * POST /sso/saml/acs (assertion consumer service) and GET /sso/saml/continue: an identity provider's page sends the
 * browser back with a response (docs/specification/api.md 29).
 *
 * Threat: login CSRF. An attacker signs in at the identity provider, keeps the response and makes another browser post
 * it. A PKCE client has no verifier for the code of such a flow. Without PKCE, the browser that started the flow has a
 * cookie, which a cross-site POST does not carry. So the POST redirects to a GET of ours, to which the browser sends
 * the cookie.
 *
 * Threat: an attacker starts a flow, has the victim finish it, and requests that GET with the attacker's own cookie.
 * Therefore the GET also needs a code that only the posting browser gets.
 */
import type { SAML } from '@node-saml/node-saml';
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { BodyTooLargeError } from '#server/http/limit-body.ts';
import { findUserById, isBanned } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { toAuthError } from '../http/error-response.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { UUID } from '../keys/access-tokens.ts';
import { isBoundBrowser } from '../providers/browser-binding.ts';
import { signInWithIdentity, type ExternalIdentity } from '../providers/external-identity.ts';
import { completeFlow, redirectToClient, redirectWithError } from '../providers/return-to-client.ts';
import { deleteFlow, findFlow, issueAuthCode, lockFlowOfCode, type FlowRow } from '../sessions/flows.ts';
import { parseIdpMetadata } from './idp-metadata.ts';
import {
  inspectResponse,
  InvalidResponseError,
  readAssertion,
  type ExpectedResponse,
  type Assertion,
} from './read-assertion.ts';
import { parseXml } from './parse-xml.ts';
import { toIdentity } from './saml-identity.ts';
import {
  acsUrlOf,
  claimedRequestCache,
  claimSamlRequest,
  createServiceProvider,
  entityIdOf,
  type SamlRequestRow,
} from './service-provider.ts';
import { findSsoProvider } from './sso-providers.ts';

const METHOD = 'sso/saml';
/** 256 KB (docs/specification/limits.md 2) in characters of base64. */
const MAX_RESPONSE_LENGTH = 350_000;

type Given = { device: Device; countRequest: () => Promise<void> };
type GivenForm = Given & { readBody: () => Promise<URLSearchParams> };

export const acceptAssertion: Endpoint<GivenForm> = async (context, deps, { device, countRequest, readBody }) => {
  let form: URLSearchParams;
  let accepted: AcceptedResponse;
  try {
    await countRequest();
    form = await readBody();
    accepted = await acceptResponse(deps, form.get('RelayState') ?? '');
  } catch (error) {
    return redirectWithError(context, deps.config.publicUrl, toClientError(deps, error), 303);
  }
  const { flow } = accepted;
  try {
    const identity = await readIdentity(deps, accepted, form.get('SAMLResponse') ?? '');
    return await finishFlow(context, deps, { flow, identity, device });
  } catch (error) {
    const problem = toClientError(deps, error);
    await recordFailure(deps, { flow, problem, device });
    return redirectWithError(context, flow.redirect_to, problem);
  }
};

type AcceptedResponse = { flow: FlowRow; request: SamlRequestRow };

/** Claims the flow's request, so that a flow accepts one response, valid or not. Throws an AuthError. */
async function acceptResponse({ clock, database }: AuthDeps, relayState: string): Promise<AcceptedResponse> {
  if (!UUID.test(relayState)) throw invalidRequest('SAML RelayState is not a valid UUID or URL');
  const service = database.asService('accept a SAML response');
  const flow = await findFlow(service, relayState);
  if (!flow || flow.method !== METHOD) throw new AuthError('saml_relay_state_not_found');
  const request = await claimSamlRequest(service, flow.id);
  if (!request) throw new AuthError('saml_relay_state_not_found');
  if (request.expires_at <= clock.now()) throw new AuthError('saml_relay_state_expired');
  return { flow, request };
}

async function readIdentity(
  deps: AuthDeps,
  { request }: AcceptedResponse,
  samlResponse: string,
): Promise<ExternalIdentity> {
  const { clock, config, database } = deps;
  const xml = decodeResponse(samlResponse);
  const provider = await findSsoProvider(database.asService('find an SSO provider'), request.provider_id);
  if (!provider) throw new AuthError('sso_provider_not_found');
  if (provider.disabled) throw new AuthError('sso_provider_disabled');
  const metadata = parseIdpMetadata(provider.metadata_xml, config);
  const serviceProvider = createServiceProvider({
    config,
    samlKey: deps.samlKey!,
    metadata,
    requests: claimedRequestCache(request),
  });
  const assertion = await verifyResponse(xml, serviceProvider, {
    requestId: request.id,
    acsUrl: acsUrlOf(config),
    entityId: entityIdOf(config),
    idpEntityId: metadata.entityId,
    now: clock.now(),
  });
  return toIdentity(provider, assertion);
}

function decodeResponse(samlResponse: string): string {
  if (samlResponse === '') throw invalidRequest('SAMLResponse is missing');
  const base64 = samlResponse.replace(/\s/g, '');
  if (base64.length > MAX_RESPONSE_LENGTH || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw invalidRequest('SAMLResponse is not a valid Base64 string');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    throw new InvalidResponseError('the response is not UTF-8');
  }
}

async function finishFlow(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { flow, identity, device }: { flow: FlowRow; identity: ExternalIdentity; device: Device },
): Promise<Response> {
  const { clock, config, database } = deps;
  const now = clock.now();
  await deps.limits.consumePassedSignIn(`${identity.provider} ${identity.providerId}`);
  const code = await database.transactAsService('sign in with SAML', async (transaction) => {
    const result = await signInWithIdentity(transaction, {
      identity,
      isSso: true,
      policy: { signups: config.auth.signups, autoconfirm: config.auth.autoconfirm },
      device,
      now,
    });
    if (result.outcome === 'banned') throw new AuthError('user_banned');
    if (result.outcome === 'signup_disabled') throw new AuthError('signup_disabled');
    if (result.outcome !== 'signed_in') throw new Error(`an assertion cannot lead to ${result.outcome}`);
    return issueAuthCode(transaction, flow, result.userId, now);
  });
  if (flow.code_challenge !== null) return redirectToClient(context, deps, flow.redirect_to, { code });
  context.header('Referrer-Policy', 'no-referrer');
  return context.redirect(`/auth/v1/sso/saml/continue?code=${code}`, 303);
}

export const continueSso: Endpoint<Given> = async (context, deps, { device, countRequest }) => {
  const { clock, database } = deps;
  const now = clock.now();
  let redirectTo = deps.config.publicUrl;
  try {
    await countRequest();
    const code = context.req.query('code') ?? '';
    const completed = await database.transactAsService('finish a SAML flow', async (transaction) => {
      const flow = await lockFlowOfCode(transaction, code);
      const isOurs = flow?.method === METHOD && flow.code_challenge === null && flow.browser_hash !== null;
      if (!isOurs || flow.user_id === null || !isBoundBrowser(context, deps, flow.browser_hash!))
        throw new AuthError('saml_relay_state_not_found');
      redirectTo = flow.redirect_to;
      if (flow.expires_at <= now) throw new AuthError('saml_relay_state_expired');
      const user = await findUserById(transaction, flow.user_id);
      if (!user || isBanned(user, now)) throw new AuthError(user ? 'user_banned' : 'user_not_found');
      return completeFlow(transaction, deps, { flow, userId: user.id, tokens: {}, device, now });
    });
    return await redirectToClient(context, deps, redirectTo, completed);
  } catch (error) {
    return redirectWithError(context, redirectTo, toClientError(deps, error), 303);
  }
};

type Failure = { flow: FlowRow; problem: AuthError; device: Device };

async function recordFailure(deps: AuthDeps, { flow, problem, device }: Failure) {
  const service = deps.database.asService('record a failed sign-in');
  const details = { method: METHOD, provider: flow.provider, reason: problem.code };
  await recordAuditEvent(service, {
    at: deps.clock.now(),
    userId: null,
    actor: 'guest',
    event: 'sign_in_failed',
    device,
    details,
  });
  await deleteFlow(service, flow.id);
}

/** Threat: the reason why a response is invalid tells an attacker which check to work on. Only the log has it. */
function toClientError({ log }: AuthDeps, error: unknown): AuthError {
  if (error instanceof InvalidResponseError) {
    log.warn({ reason: error.message }, 'a SAML response was refused');
    return invalidRequest('SAML Assertion is not valid');
  }
  const isKnown = error instanceof AuthError || error instanceof BodyTooLargeError;
  if (!isKnown) log.error({ err: error }, 'a SAML sign-in failed');
  return toAuthError(error);
}

/**
 * Verifies a response of an identity provider and returns its assertion (docs/specification/api.md 29).
 *
 * Throws an InvalidResponseError, whose message is for the log.
 *
 * @param serviceProvider used for this response alone, because its options are changed
 */
async function verifyResponse(xml: string, serviceProvider: SAML, expected: ExpectedResponse): Promise<Assertion> {
  const { isResponseSigned } = inspectResponse(xml, expected);
  // If the response itself is signed, node-saml must verify that signature too.
  serviceProvider.options.wantAuthnResponseSigned = isResponseSigned;
  return readAssertion(parseXml(await verifySignature(xml, serviceProvider)), expected);
}

/** Returns the bytes of the assertion that the signature covers. */
async function verifySignature(xml: string, serviceProvider: SAML): Promise<string> {
  const result = await serviceProvider
    .validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') })
    .catch((error: unknown) => {
      throw new InvalidResponseError(error instanceof Error ? error.message : 'not verified');
    });
  const signed = result.profile?.getAssertionXml?.();
  if (signed === undefined) throw new InvalidResponseError('the response has no signed assertion');
  return signed;
}
