/**
 * Checks what a row of the route table (`routes.ts`) demands before its handler runs: the feature, the rate limit, the
 * caller, the ids of the path, the body, the captcha. The handler receives what the row promises, typed.
 *
 * `meetPolicy` checks in a fixed order. A row with `laterBudget`, `laterBody` or `laterCaptcha` leaves that check to
 * its handler. `laterBudget`: only some requests count, such as failed renewals of a session; or the refusal must be a
 * redirect, for a browser that a mail or a provider has sent here. `laterBody`: the handler has something to check
 * before it reads the body. `laterCaptcha`: a captcha is worth one request, so a request that cannot succeed must not
 * use it up.
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { findUserById, type UserRow } from './accounts/accounts.ts';
import {
  proveIdentity,
  requireLinking,
  requireReauthentication,
  requireRecentSignIn,
  type LinkingUser,
  type Proof,
  type RequireReauthentication,
  type SubmittedProof,
} from './codes/prove-identity.ts';
import type { StoredFactor } from './factors/factor-store.ts';
import type { AuthDeps, Endpoint } from './http/auth-deps.ts';
import { requireAdmin } from './http/bearer.ts';
import { MAX_FORM_BYTES, readBody, readForm, readOptionalBody, type Body } from './http/body.ts';
import { requireCaptcha } from './http/captcha.ts';
import { deviceOf, type Device } from './http/device.ts';
import { AuthError, type AuthErrorName } from './http/errors.ts';
import type { Bucket } from './http/rate-limits.ts';
import { UUID } from './keys/access-tokens.ts';
import { ADMIN_ROLES, PROBE_ROLE } from './keys/service-token.ts';
import {
  checkMember,
  lacksSecondStep,
  requireUser,
  type AuthenticatedUser,
  type Member,
} from './sessions/require-user.ts';

/**
 * The callers. `user`: somebody who is signed in, anonymously too. `member`: a user with an address, a number or a
 * provider, in a session. `linking user`: see `requireLinking`; `nonce` in the query is the mailed or texted code,
 * not the nonce of a provider. `service`: the holder of a service token. `service or
 * probe`: also `npm run doctor`.
 */
type Callers = {
  guest: unknown;
  user: { caller: AuthenticatedUser };
  member: { caller: Member };
  'linking user': { caller: LinkingUser };
  service: unknown;
  'service or probe': unknown;
};

/**
 * A SAML response of 256 KB (docs/specification/limits.md 2) in base64, with room for percent-encoding and the other
 * fields.
 */
const MAX_SAML_FORM_BYTES = 360 * 1024;

/** How a body is read. `MAX_BODY_BYTES` in `routes.ts` limits JSON. */
const BODIES = {
  json: readBody,
  'json or none': readOptionalBody,
  form: (context: Context<AppEnv>) => readForm(context, MAX_FORM_BYTES),
  'SAML form': (context: Context<AppEnv>) => readForm(context, MAX_SAML_FORM_BYTES),
  'form or json': (context: Context<AppEnv>): Promise<Body | URLSearchParams> =>
    context.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')
      ? readForm(context, MAX_FORM_BYTES)
      : readBody(context),
};
type BodyOf<Kind> = Kind extends keyof typeof BODIES ? Awaited<ReturnType<(typeof BODIES)[Kind]>> : never;

/** The features that an operator can turn on or off. */
const FEATURES = {
  passkeys: ({ config }) => {
    if (!config.auth.passkeys) throw new AuthError(404, 'passkey_disabled', 'Passkeys are disabled');
  },
  saml: ({ samlKey }) => {
    if (samlKey === null) throw new AuthError(404, 'saml_provider_disabled', 'SAML 2.0 is disabled');
  },
  wallets: ({ config: { auth } }) => {
    if (!auth.web3.ethereum && !auth.web3.solana)
      throw new AuthError(422, 'web3_provider_disabled', 'Web3 provider is disabled');
  },
} satisfies Record<string, (deps: AuthDeps) => void>;

type Proofs = {
  'recent sign-in': { requireRecentSignIn: (nonce: string) => Promise<void> };
  reauthentication: { requireReauthentication: RequireReauthentication };
  identity: { proveIdentity: (submitted: SubmittedProof) => Promise<Proof> };
};

type Policy = {
  needs?: keyof typeof FEATURES;
  caller: keyof Callers;
  /** Refuses a user with a second factor whose session has not passed it. The error names this value. */
  secondStep?: 'sessions' | 'passkeys' | 'access tokens';
  /**
   * The handler receives a function of `codes/prove-identity.ts` that requires this proof, and calls it for a request
   * that needs one. `recent sign-in` or `reauthentication`: a sign-in or second step of the last 24 hours, or a code.
   * `identity`: that the owner is at the device now.
   */
  proof?: keyof Proofs;
  /** The ids in the path, and the error for one that is not a UUID. */
  ids?: Readonly<Record<string, AuthErrorName>>;
  /** The row that an id names: the caller's own factor (`id`), or the user of an admin route (`userId`). */
  finds?: 'factor' | 'user';
  budget?: Bucket;
  laterBudget?: Bucket;
  body?: keyof typeof BODIES;
  laterBody?: keyof typeof BODIES;
  captcha?: true;
  laterCaptcha?: true;
};

/** The third parameter of a handler, by the policy of its row. */
type Given<P extends Policy> = { device: Device } & Callers[P['caller']] &
  (P extends { body: infer Kind } ? { body: BodyOf<Kind> } : unknown) &
  (P extends { laterBody: infer Kind } ? { readBody: () => Promise<BodyOf<Kind>> } : unknown) &
  (P extends { laterBudget: Bucket } ? { countRequest: () => Promise<void> } : unknown) &
  (P extends { laterCaptcha: true } ? { requireCaptcha: () => Promise<void> } : unknown) &
  (P extends { ids: infer Ids } ? { ids: { [Name in keyof Ids]: string } } : unknown) &
  (P extends { finds: 'factor' } ? { factor: StoredFactor } : unknown) &
  (P extends { finds: 'user' } ? { user: UserRow } : unknown) &
  (P extends { proof: infer Kind extends keyof Proofs } ? Proofs[Kind] : unknown);

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Route = {
  method: Method;
  path: string;
  policy: Policy;
  handle: (context: Context<AppEnv>, deps: AuthDeps) => Promise<Response>;
};

export function route<const P extends Policy>(
  address: `${Method} /${string}`,
  policy: P,
  endpoint: Endpoint<Given<P>>,
): Route {
  const [method, path] = address.split(' ') as [Method, string];
  return {
    method,
    path,
    policy,
    // `meetPolicy` gives every member that the type derives from the policy.
    handle: async (context, deps) => endpoint(context, deps, (await meetPolicy(policy, context, deps)) as Given<P>),
  };
}

/** An endpoint whose module is imported at its first request, so that its libraries cost no memory before. */
export const lazy =
  <Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name): Endpoint<GivenOf<Module[Name]>> =>
  async (context, deps, given) =>
    ((await load())[name] as Endpoint<GivenOf<Module[Name]>>)(context, deps, given);

type GivenOf<Handler> = Handler extends Endpoint<infer G> ? G : never;

async function meetPolicy(policy: Policy, context: Context<AppEnv>, deps: AuthDeps): Promise<Record<string, unknown>> {
  const { needs, budget, laterBudget, body: kind, laterBody, captcha, laterCaptcha, finds } = policy;
  if (needs !== undefined) FEATURES[needs](deps);
  const device = deviceOf(context, deps);
  if (budget !== undefined) await deps.limits.consume(budget, device.ip);
  const given: Record<string, unknown> = { device };
  const authenticateCaller = () => authenticate(policy, context, deps, given);
  await authenticateCaller();
  // Reading the body authenticates again, so the handler gets the caller as found once the body is there.
  context.set('authenticateAgain', authenticateCaller);
  const ids: Record<string, string> = {};
  for (const [name, error] of Object.entries(policy.ids ?? {})) {
    const id = context.req.param(name) ?? '';
    if (!UUID.test(id)) throw new AuthError(error);
    ids[name] = id;
    if (name === 'userId' && finds === 'user') given['user'] = await findNamedUser(deps, id);
  }
  given['ids'] = ids;
  if (finds === 'factor') {
    const { findOwnFactor } = await import('./factors/factor-store.ts');
    given['factor'] = await findOwnFactor(deps, given['caller'] as Member, ids['id']!);
  }
  if (kind !== undefined) given['body'] = await BODIES[kind](context);
  if (captcha) await requireCaptcha(context, deps, given['body'] as Body);
  if (laterBudget !== undefined) given['countRequest'] = () => deps.limits.consume(laterBudget, device.ip);
  if (laterBody !== undefined) given['readBody'] = () => BODIES[laterBody](context);
  if (laterCaptcha) given['requireCaptcha'] = () => requireCaptcha(context, deps, given['body'] as Body);
  return given;
}

async function authenticate(
  { caller, secondStep, proof }: Policy,
  context: Context<AppEnv>,
  deps: AuthDeps,
  given: Record<string, unknown>,
): Promise<void> {
  if (caller === 'guest') return;
  if (caller === 'service') return requireAdmin(context, deps);
  if (caller === 'service or probe') return requireAdmin(context, deps, new Set([...ADMIN_ROLES, PROBE_ROLE]));
  if (caller === 'linking user') {
    given['caller'] = await requireLinking(context, deps, context.req.query('nonce') ?? '');
    return;
  }
  const user = await requireUser(context, deps);
  const { account, session } = user;
  given['caller'] = caller === 'member' ? checkMember(user) : user;
  if (secondStep !== undefined && lacksSecondStep(account, session)) {
    const text = `AAL2 session is required to manage ${secondStep} when MFA is enabled`;
    throw new AuthError(403, 'insufficient_aal', text);
  }
  Object.assign(given, proof && PROOFS[proof](context, deps, user));
}

const PROOFS: {
  [Kind in keyof Proofs]: (context: Context<AppEnv>, deps: AuthDeps, user: AuthenticatedUser) => Proofs[Kind];
} = {
  'recent sign-in': (_context, deps, user) => ({
    requireRecentSignIn: (nonce) => requireRecentSignIn(deps, checkMember(user), nonce),
  }),
  reauthentication: (_context, deps, { account: { user }, session }) => ({
    requireReauthentication: (nonce, needed) => requireReauthentication(deps, { user, session, nonce, needed }),
  }),
  identity: (context, deps, user) => ({ proveIdentity: (submitted) => proveIdentity(context, deps, user, submitted) }),
};

async function findNamedUser({ database }: AuthDeps, userId: string): Promise<UserRow> {
  const user = await findUserById(database.asService('find a user'), userId);
  if (!user) throw new AuthError('no_such_user');
  return user;
}
