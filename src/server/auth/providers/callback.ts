/** GET and POST /callback: a provider returns the browser (docs/specification/api.md 27). */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { lockUser } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { toAuthError } from '../http/error-response.ts';
import { AuthError } from '../http/errors.ts';
import { UUID } from '../keys/access-tokens.ts';
import { unseal } from '../keys/sealed.ts';
import { claimProviderFlow, findFlow, type FlowRow } from '../sessions/flows.ts';
import { isBoundBrowser } from './browser-binding.ts';
import { ProviderError, ProviderRefusal } from './provider-client.ts';
import { completeFlow, redirectToClient, redirectWithError, redirectWithFields } from './return-to-client.ts';
import { signInWithProvider } from './sign-in-with-provider.ts';
import { callbackUrl, connectProvider, findProvider, type StoredSecrets } from './start-flow.ts';

/** The parameters of an answer in RFC 6749 4.1.2, RFC 9207 and OpenID Connect. */
const PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'scope', 'session_state'];
const MAX_PARAMETER_LENGTH = 4_096;

type Given = {
  device: Device;
  countRequest: () => Promise<void>;
  /** Set only for the POST request. */
  readBody?: () => Promise<URLSearchParams>;
};

export const acceptCallback: Endpoint<Given> = async (context, deps, { device, countRequest, readBody }) => {
  try {
    await countRequest();
  } catch (error) {
    return redirectWithError(context, deps.config.publicUrl, toClientError(deps, error, null), 303);
  }
  const parameters = pickParameters((await readBody?.()) ?? new URL(context.req.url).searchParams);
  // A cross-site POST carries no `Lax` cookie; the GET that follows it does.
  if (readBody !== undefined) return context.redirect(`/auth/v1/callback?${parameters.toString()}`, 303);
  let flow: FlowRow;
  try {
    flow = await acceptReturn(context, deps, parameters.get('state') ?? '');
  } catch (error) {
    return redirectWithError(context, deps.config.publicUrl, toClientError(deps, error, null), 303);
  }
  try {
    return await finishFlow(context, deps, { flow, parameters, device });
  } catch (error) {
    if (error instanceof ProviderRefusal) {
      const fields = { error: error.error, error_code: error.error, error_description: error.message };
      return redirectWithFields(context, flow.redirect_to, fields);
    }
    return redirectWithError(context, flow.redirect_to, toClientError(deps, error, flow.provider));
  }
};

/**
 * Keeps the known parameters, except values that are too long. RFC 6749 3.1 forbids a repeated parameter: only
 * its first value is kept.
 */
function pickParameters(all: URLSearchParams): URLSearchParams {
  const picked = new URLSearchParams();
  for (const name of PARAMETERS) {
    const value = all.get(name);
    if (value !== null && value.length <= MAX_PARAMETER_LENGTH) picked.set(name, value);
  }
  return picked;
}

/** A flow accepts one answer; one that `bindBrowser` has bound accepts it only in that browser. */
async function acceptReturn(context: Context<AppEnv>, deps: AuthDeps, state: string): Promise<FlowRow> {
  if (state === '') throw new AuthError(400, 'bad_oauth_callback', 'OAuth state parameter missing');
  if (!UUID.test(state)) throw new AuthError('state_invalid');
  const [service, now] = [deps.database.asService('accept the answer of a provider'), deps.clock.now()];
  const found = await findFlow(service, state);
  if (!found || found.method !== 'oauth')
    throw new AuthError(400, 'bad_oauth_state', 'OAuth state not found or expired');
  if (found.browser_hash !== null && !isBoundBrowser(context, deps, found.browser_hash))
    throw new AuthError('state_invalid');
  if (found.returned_at !== null) throw new AuthError('state_used');
  if (found.expires_at <= now) throw new AuthError('state_expired');
  const flow = await claimProviderFlow(service, state, now);
  if (!flow) throw new AuthError('state_used');
  return flow;
}

async function finishFlow(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { flow, parameters, device }: { flow: FlowRow; parameters: URLSearchParams; device: Device },
): Promise<Response> {
  const provider = findProvider(deps, flow.provider ?? '');
  const { invitedEmail, linkingSessionId, ...secrets } = openSecrets(deps, flow);
  if (!parameters.has('code') && !parameters.has('error'))
    throw new AuthError(400, 'bad_oauth_callback', 'OAuth callback with missing authorization code');
  const url = new URL(`${callbackUrl(deps)}?${parameters.toString()}`);
  const { identity, tokens } = await connectProvider(provider).readAccount({ ...secrets, state: flow.id, url });
  const isInvited = invitedEmail !== undefined && identity.email === invitedEmail;

  const now = deps.clock.now();
  const completed = await signInWithProvider(
    deps,
    {
      provider,
      identity: { ...identity, emailVerified: identity.emailVerified || isInvited },
      linkingUserId: flow.linking_user_id,
      redirectTo: flow.redirect_to,
      device,
      now,
    },
    {
      async prepare(transaction) {
        // Threat: a thief of a session starts to link and finishes after the owner has signed out everywhere. The lock
        // waits for a change that ends the session.
        if (flow.linking_user_id !== null) await lockUser(transaction, flow.linking_user_id);
        if (linkingSessionId !== undefined && !(await hasSession(transaction, linkingSessionId)))
          throw new AuthError('state_expired');
      },
      complete: (transaction, userId) => completeFlow(transaction, deps, { flow, userId, tokens, device, now }),
    },
  );
  return redirectToClient(context, deps, flow.redirect_to, completed);
}

async function hasSession(transaction: AsService, id: string): Promise<boolean> {
  const rows = await transaction.run(queryBuilder.selectFrom('auth.sessions').select('id').where('id', '=', id));
  return rows.length > 0;
}

function openSecrets({ secrets }: AuthDeps, flow: FlowRow): StoredSecrets {
  const sealed = flow.provider_secrets;
  const opened = sealed && unseal(secrets.providerTokens, `flow:${flow.id}`, sealed);
  // The operator replaced the server's secrets while the user was at the provider.
  if (opened === null) throw new AuthError('state_expired');
  return JSON.parse(opened) as StoredSecrets;
}

function toClientError(deps: AuthDeps, error: unknown, provider: string | null): AuthError {
  if (error instanceof ProviderError) {
    deps.log.warn({ err: error, provider }, 'a provider sign-in failed');
    return error.kind === 'unavailable'
      ? new AuthError('provider_unavailable')
      : new AuthError(500, 'unexpected_failure', 'Unable to exchange external code');
  }
  if (!(error instanceof AuthError)) deps.log.error({ err: error, provider }, 'a provider sign-in failed');
  return toAuthError(error);
}
