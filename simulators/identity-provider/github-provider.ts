/** Simulated GitHub: the OAuth pages, the token endpoint with its errors in status 200, and the API for the account. */
import { Hono, type Context } from 'hono';
import { numericId, consentPage, invalidRequestPage, readChoice } from './consent-page.ts';
import type { IdentityEnv } from './faults.ts';
import { isClient, parseAuthorizationRequest, returnUrl, type Client, type Grants } from './grants.ts';

export const GITHUB_CLIENT: Client = { id: 'Iv1.sandbox', secret: 'sandbox-github-secret' };
const NAME = 'GitHub';
const NO_STORE = { 'Cache-Control': 'no-store' };
/** GitHub's ids are integers; these have at most nine digits. */
export const idOf = (email: string): number => numericId(email) % 1_000_000_000;

/** The OAuth routes have the paths of GitHub's site. The others have those of GitHub's API, below `/api`. */
export function githubRoutes(grants: Grants): Hono<IdentityEnv> {
  const app = new Hono<IdentityEnv>();

  app.get('/login/oauth/authorize', (context) => {
    const request = parseRequest(context);
    return 'problem' in request
      ? context.html(invalidRequestPage(NAME, request.problem), 404, NO_STORE)
      : context.html(consentPage(NAME), 200, NO_STORE);
  });
  app.post('/login/oauth/authorize', async (context) => {
    const request = parseRequest(context);
    if ('problem' in request) return context.html(invalidRequestPage(NAME, request.problem), 404, NO_STORE);
    const choice = readChoice(new URLSearchParams(await context.req.text()));
    if (choice === null) return context.html(consentPage(NAME), 400, NO_STORE);
    const fields =
      choice === 'denied'
        ? {
            error: 'access_denied',
            error_description: 'The user has denied your application access.',
            error_uri: 'https://docs.github.com/apps/troubleshooting-authorization-request-errors',
          }
        : { code: grants.issueCode(request, choice.account) };
    return context.redirect(returnUrl(request, fields), 302);
  });

  app.post('/login/oauth/access_token', async (context) => {
    const form = new URLSearchParams(await context.req.text());
    if (!isClient(GITHUB_CLIENT, form, context.req.header('authorization'))) {
      const text = 'The client_id and/or client_secret passed are incorrect.';
      return answerToken(context, { error: 'incorrect_client_credentials', error_description: text });
    }
    const grant = grants.redeemCode({
      code: form.get('code') ?? '',
      redirectUri: form.get('redirect_uri') ?? '',
      verifier: form.get('code_verifier') ?? '',
    });
    if (grant === null) {
      const text = 'The code passed is incorrect or expired.';
      return answerToken(context, { error: 'bad_verification_code', error_description: text });
    }
    const token = grants.issueToken(grant, 'gho_');
    return answerToken(context, { access_token: token, scope: grant.request.scopes.join(','), token_type: 'bearer' });
  });

  app.use('/api/*', async (context, next) => {
    if (context.req.header('user-agent') === undefined)
      return context.text(
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent',
        403,
      );
    if (grants.findByToken(context.req.header('authorization')) === null)
      return context.json({ message: 'Bad credentials', status: '401' }, 401);
    return next();
  });
  app.get('/api/user', (context) => {
    const { account } = grants.findByToken(context.req.header('authorization'))!;
    const id = idOf(account.email);
    return context.json({
      login: loginOf(account.email),
      id,
      avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
      type: 'User',
      name: account.name,
      email: null,
    });
  });
  app.get('/api/user/emails', (context) => {
    const { account, request } = grants.findByToken(context.req.header('authorization'))!;
    if (!request.scopes.some((scope) => scope === 'user' || scope === 'user:email'))
      return context.json({ message: 'Not Found', status: '404' }, 404);
    const { email, verified } = account;
    const noReply = `${idOf(email)}+${loginOf(email)}@users.noreply.github.com`;
    return context.json([
      { email: noReply, primary: false, verified: true, visibility: null },
      { email, primary: true, verified, visibility: 'private' },
    ]);
  });
  return app;
}

const parseRequest = (context: Context) => {
  const query = new URL(context.req.url).searchParams;
  // GitHub has no other response type and needs no parameter for it.
  if (!query.has('response_type')) query.set('response_type', 'code');
  return parseAuthorizationRequest(query, GITHUB_CLIENT);
};

/** Form-encoded unless the request accepts JSON; always with status 200. */
function answerToken(context: Context, fields: Record<string, string>): Response {
  const wantsJson = context.req.header('accept')?.includes('application/json') ?? false;
  if (wantsJson) return context.json(fields, 200, NO_STORE);
  const headers = { ...NO_STORE, 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' };
  return context.body(new URLSearchParams(fields).toString(), 200, headers);
}

const loginOf = (email: string): string => email.replace(/@.*$/, '').replaceAll(/[^a-z0-9]/gi, '-');
