/**
 * Server functions, `POST /functions/v1/<name>`, as supabase-js `functions.invoke` calls them
 * (docs/specification/api.md 22); those of `GET_FUNCTIONS` are called with GET. The caller is authenticated before a
 * function runs.
 */
import { Hono, type Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { MESSAGES } from '#domain/messages.ts';
import type { AuthDeps } from '../auth/http/auth-deps.ts';
import { AuthError } from '../auth/http/errors.ts';
import { AccessTokenError, type AccessTokens } from '../auth/keys/access-tokens.ts';
import type { Config } from '../config/config.ts';
import { deviceOf } from '../auth/http/device.ts';
import { isPersonalToken, PersonalTokenError } from '../auth/keys/personal-tokens.ts';
import type { TokenScope } from '#domain/account/access-token.ts';
import type { Clock } from '../clock.ts';
import type { Coach } from '../coach/coach.ts';
import { DataError, toDataError } from '../data/errors.ts';
import { RETRY_AFTER_SECONDS } from '../data/respond.ts';
import type { WriteQuota } from '../data/write-quota.ts';
import { redactRow } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { appendItem } from './append-item.ts';
import { sendArchive } from './archive.ts';
import { streamChanges, readDays, summarizeYear } from './read-days.ts';
import { streamFeedback, streamReview } from './coach-functions.ts';
import { createLink } from './create-link.ts';
import { findEntries } from './find-entries.ts';
import { importEntries } from './import-entries.ts';
import { sendReminderNow, storePushSubscription } from './send-reminder.ts';
import { captureOrder, createOrder } from './payment-functions.ts';
import { listImports, undoImport } from './undo-import.ts';
import { answerRefusal, FunctionError, type FunctionCaller } from './function-request.ts';
import type { AppEnv } from '../http/app-env.ts';
import { authenticateRequest, readBearer, type Guest, type SignedInCaller } from '../http/authenticate.ts';
import { networkPrefix } from '../http/client-address.ts';
import { isClientDisconnected } from '../http/error-response.ts';
import type { ReminderWriter } from '../habit/send-reminders.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { ChangeStreams } from './change-streams.ts';
import type { Limiters } from '../load/limiters.ts';
import { BusyError } from '../load/request-context.ts';
import type { Logger } from '../log.ts';
import type { Push } from '../push/push.ts';
import type { Payments } from '../payments/payments.ts';
import { isCallerPremium, recordPlanUse } from '../plans/change-plan.ts';

const PATH = '/functions/v1/';

type FunctionDeps = {
  reminders: ReminderWriter;
  mailer: Mailer;
  /** Null where push messages are off. */
  push: Push | null;
  writeQuota: WriteQuota;
  config: Pick<Config, 'publishableKey' | 'publicUrl' | 'auth'>;
  database: Database;
  clock: Clock;
  /** Null when payments are not set up. */
  payments: Payments | null;
  /** Null when no coach is configured. */
  coach: Coach | null;
  accessTokens: Pick<AccessTokens, 'verify'>;
  changeStreams: ChangeStreams;
  limiters: Limiters;
  auth: AuthDeps;
  log: Logger;
};

type ServerFunction = (context: Context<AppEnv>, caller: FunctionCaller) => Response | Promise<Response>;

/** The functions for signed-in callers by their name in the path. */
export const listFunctions = (deps: FunctionDeps): ReadonlyMap<string, ServerFunction> =>
  new Map<string, ServerFunction>([
    ['paypal-create-order', createOrder(deps.payments)],
    ['paypal-capture-order', captureOrder(deps.payments)],
    ['append-item', appendItem(deps)],
    ['read-days', readDays(deps)],
    ['find-entries', findEntries(deps)],
    ['record-export', recordExport(deps)],
    ['import-entries', importEntries(deps)],
    ['list-imports', listImports(deps)],
    ['undo-import', undoImport(deps)],
    ['archive', sendArchive(deps)],
    ['create-link', createLink(deps)],
    ['changes', streamChanges(deps)],
    ['ai-feedback', streamFeedback(deps)],
    ['trend-analysis', streamReview(deps)],
    ['push-subscription', storePushSubscription(deps)],
    ['send-reminder', sendReminderNow({ ...deps.reminders, ...deps })],
    ['year-summary', summarizeYear(deps)],
  ]);

export const GET_FUNCTIONS: ReadonlySet<string> = new Set(['changes']);

/** The functions that accept a personal access token, and the scope that each needs. No other address accepts one. */
export const TOKEN_FUNCTIONS: ReadonlyMap<string, TokenScope> = new Map([
  ['append-item', 'append'],
  ['read-days', 'read'],
  ['find-entries', 'read'],
]);

export function functionRoutes(deps: FunctionDeps): Hono<AppEnv> {
  const { config, accessTokens, auth, log } = deps;
  const { publishableKey } = config;
  const functions = listFunctions(deps);
  const routes = new Hono<AppEnv>();

  // Not `/:name`: with the webhook's fixed path beside a parameter, Hono would match every request with a slower
  // router.
  routes.all('/*', async (context) => {
    // Private data: no proxy or browser may cache it.
    context.header('Cache-Control', 'no-store');
    const name = context.req.path.slice(PATH.length);
    const run = functions.get(name);
    if (!run) return refuse(context, 404, 'NOT_FOUND', 'Requested function was not found');
    context.set('route', PATH + name);
    const method = GET_FUNCTIONS.has(name) ? 'GET' : 'POST';
    if (context.req.method !== method) {
      context.header('Allow', method);
      return refuse(context, 405, 'METHOD_NOT_ALLOWED', `This function is called with ${method}`);
    }
    try {
      const caller = await authenticateCaller(context, name);
      if (caller.userId === null) return refuse(context, 401, 'UNAUTHORIZED_NO_AUTH_HEADER', 'Please sign in');
      context.set('userId', caller.userId);
      return await run(context, caller);
    } catch (error) {
      if (error instanceof FunctionError) return answerRefusal(context, error);
      if (error instanceof PersonalTokenError) return refuseToken(context, error);
      if (error instanceof AccessTokenError && error.reason === 'second_step_missing')
        return refuse(context, 403, 'INSUFFICIENT_AAL', 'Two-step verification is not complete');
      if (error instanceof AccessTokenError) return refuse(context, 401, 'UNAUTHORIZED_INVALID_JWT', 'Invalid JWT');
      if (error instanceof AuthError || (error instanceof DataError && error.status < 500)) {
        const { status, code, message, retryAfterSeconds } = error;
        if (retryAfterSeconds !== null) context.header('Retry-After', String(retryAfterSeconds));
        return refuse(context, status as ContentfulStatusCode, code, message);
      }
      return refuseIfBusy(context, error);
    }
  });
  routes.all('*', (context) => refuse(context, 404, 'NOT_FOUND', 'Requested function was not found'));
  return routes;

  async function authenticateCaller(context: Context<AppEnv>, name: string): Promise<FunctionCaller | Guest> {
    const bearer = readBearer(context.req.header('authorization'));
    if (bearer === undefined || !isPersonalToken(bearer))
      return authenticateRequest(context, { accessTokens, publishableKey });
    context.set('authenticateAgain', () => auth.tokens.verifyAgain(bearer));
    const scope = TOKEN_FUNCTIONS.get(name);
    if (scope === undefined) throw new PersonalTokenError('scope', 'Access tokens are not accepted here');
    const { timeZone, ...caller } = await auth.tokens.verify(bearer, scope, networkPrefix(deviceOf(context, auth).ip));
    return { ...caller, token: { timeZone } };
  }

  /**
   * Answers 503 if the caller can try again: a queue is full, the database is unavailable, it cancelled the query, a
   * prepared statement is stale, or transactions collided. Rethrows any other error.
   */
  function refuseIfBusy(context: Context<AppEnv>, error: unknown): Response {
    const answer = toDataError(error, false);
    if (answer?.status !== 503) throw error;
    // The request log already records refusals by this server, such as a full queue.
    if (answer !== error && !(error instanceof BusyError) && !isClientDisconnected(context))
      log.error(redactRow(error), 'a function failed');
    context.header('Retry-After', RETRY_AFTER_SECONDS);
    return refuse(context, 503, 'BUSY', answer.message);
  }
}

const TOKEN_REFUSALS = {
  invalid: [401, 'TOKEN_INVALID'],
  scope: [403, 'TOKEN_SCOPE'],
  rate_limited: [429, 'TOO_MANY_REQUESTS'],
} as const;

function refuseToken(context: Context<AppEnv>, { reason, message, retryAfterSeconds }: PersonalTokenError): Response {
  if (retryAfterSeconds !== null) context.header('Retry-After', String(retryAfterSeconds));
  const [status, code] = TOKEN_REFUSALS[reason];
  return refuse(context, status, code, message);
}

/** `code` and `message` as in Supabase's hosted service; `success` and `error` for the product's own screens. */
function refuse(context: Context<AppEnv>, status: ContentfulStatusCode, code: string, message: string): Response {
  if (status === 401) context.header('WWW-Authenticate', 'Bearer');
  return context.json({ code, message, success: false, error: message }, status);
}

/** Threat: a caller floods the append-only table of plan uses. Within this time a further export adds no row. */
const MIN_INTERVAL_SECONDS = 60;

/** `record-export` {}: records a plan use before the browser hands out the exported file. */
function recordExport({ database }: { database: Database }) {
  return async (context: Context<AppEnv>, { identity, userId }: SignedInCaller): Promise<Response> => {
    if (!(await isCallerPremium(database, identity))) throw new FunctionError(403, MESSAGES.exportIsPremium);
    await recordPlanUse(database.asService('record an export'), userId, 'export', MIN_INTERVAL_SECONDS);
    return context.json({ success: true });
  };
}
