/**
 * Ends a flow that sent the browser to a third party: the browser returns to the client with an auth code (PKCE), with
 * tokens in the fragment (implicit) or with an error (docs/specification/api.md 27).
 */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { getAccount, type Account } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import type { AuthError } from '../http/errors.ts';
import { oauthErrorName } from '../http/redirects.ts';
import { seal } from '../keys/sealed.ts';
import { deleteFlow, issueAuthCode, setProviderSecrets, type FlowRow } from '../sessions/flows.ts';
import { respondWithSession, sessionFragment } from '../sessions/session-response.ts';
import { startSession, type SignInMethod, type StartedSession } from '../sessions/sessions.ts';

/** Tokens of the third party, which the client gets, by their names in the API. */
type ThirdPartyTokens = { provider_token?: string; provider_refresh_token?: string };

export type CompletedFlow = { code: string } | { account: Account; started: StartedSession; tokens: ThirdPartyTokens };

type Completion = { flow: FlowRow; userId: string; tokens: ThirdPartyTokens; device: Device; now: Date };

/**
 * Requires the transaction that signed the user in. For a PKCE client it issues an auth code, and the exchange of the
 * code starts the session. Otherwise it starts the session.
 */
export async function completeFlow(
  transaction: AsService,
  { secrets }: Pick<AuthDeps, 'secrets'>,
  { flow, userId, tokens, device, now }: Completion,
): Promise<CompletedFlow> {
  if (flow.code_challenge !== null) {
    const hasTokens = Object.keys(tokens).length > 0;
    const sealed = hasTokens ? seal(secrets.providerTokens, `flow:${flow.id}`, JSON.stringify(tokens)) : null;
    await setProviderSecrets(transaction, flow.id, sealed);
    return { code: await issueAuthCode(transaction, flow, userId, now) };
  }
  await deleteFlow(transaction, flow.id);
  const started = await startSession(transaction, {
    userId,
    method: flow.method as SignInMethod,
    ...(flow.provider !== null && { provider: flow.provider }),
    device,
    now,
  });
  return { account: await getAccount(transaction, userId), started, tokens };
}

/** For a flow without PKCE the redirect carries tokens, so the caller must have checked `isBoundBrowser`. */
export async function redirectToClient(
  context: Context<AppEnv>,
  deps: AuthDeps,
  redirectTo: string,
  completed: CompletedFlow,
): Promise<Response> {
  if ('code' in completed) return redirect(context, addToUrl(redirectTo, { query: { code: completed.code } }), 302);
  const { account, started, tokens } = completed;
  const session = await respondWithSession(context, deps, { account, started, isBrowserBound: true });
  return redirect(context, addToUrl(redirectTo, { fragment: { ...sessionFragment(session), ...tokens } }), 302);
}

const DENIALS = new Set(['signup_disabled', 'user_banned', 'provider_email_needs_verification']);

/**
 * @param status 303 if no flow has accepted the answer, as in supabase/auth, and after our own redirect (`continueSso`)
 */
export function redirectWithError(
  context: Context<AppEnv>,
  redirectTo: string,
  error: AuthError,
  status: 302 | 303 = 302,
): Response {
  const name = DENIALS.has(error.code) ? 'access_denied' : oauthErrorName(error.status);
  return redirectWithFields(
    context,
    redirectTo,
    { ...(name !== undefined && { error: name }), error_code: error.code, error_description: error.message },
    status,
  );
}

/** Clients read the query or the fragment, so errors are in both. */
export function redirectWithFields(
  context: Context<AppEnv>,
  redirectTo: string,
  fields: Record<string, string>,
  status: 302 | 303 = 302,
): Response {
  return redirect(context, addToUrl(redirectTo, { query: fields, fragment: fields }), status);
}

type Additions = { query?: Record<string, string>; fragment?: Record<string, string> };

/** Adds to the query and replaces the fragment. An empty field `sb` marks our fragments, as in supabase/auth. */
function addToUrl(target: string, { query = {}, fragment }: Additions): string {
  const url = new URL(target);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  url.hash = '';
  if (fragment === undefined) return url.href;
  const parameters = new URLSearchParams({ ...fragment, sb: '' });
  parameters.sort();
  return `${url.href}#${parameters.toString()}`;
}

function redirect(context: Context<AppEnv>, url: string, status: 302 | 303): Response {
  // The URL of this request carries the provider's code, which the target must not get as the referrer.
  context.header('Referrer-Policy', 'no-referrer');
  return context.redirect(url, status);
}
