/** Builds the Hono app: the middleware in order, and the routes of each API. */
import { Hono, type MiddlewareHandler, type Handler } from 'hono';
import { proxy } from 'hono/proxy';
import { routePath } from 'hono/route';
import { SHARED_PATH } from '#domain/documents/document-links.ts';
import { IMPORT_BODY_BYTES } from '#domain/journals/import-plan.ts';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import type { AccessTokens } from './auth/keys/access-tokens.ts';
import type { SigningKeys } from './auth/keys/signing-keys.ts';
import type { Passwords } from './auth/http/auth-deps.ts';
import { authRoutes, createAuthDeps } from './auth/routes.ts';
import type { SamlKey } from './auth/keys/key-file.ts';
import type { Clock } from './clock.ts';
import type { Coach } from './coach/coach.ts';
import type { Config } from './config/config.ts';
import { dataRoutes } from './data/routes.ts';
import type { WriteQuota } from './data/write-quota.ts';
import type { Database } from './database/database.ts';
import { sharedRoutes } from './documents/shared-page.ts';
import type { ReminderWriter } from './habit/send-reminders.ts';
import { mailPageRoutes } from './habit/mail-pages.ts';
import { functionRoutes } from './functions/routes.ts';
import { slackRoutes } from './functions/slack.ts';
import type { AppEnv } from './http/app-env.ts';
import { errorResponse } from './http/error-response.ts';
import { healthRoutes } from './http/health.ts';
import { canonicalHost, hostGuard } from './http/host-guard.ts';
import { BodyTooLargeError, limitBody } from './http/limit-body.ts';
import type { Metrics } from './http/metrics.ts';
import type { Inbound } from './inbound/inbound.ts';
import { fetchText } from './inbound/sns-message.ts';
import { inboundRoutes } from './inbound/webhooks.ts';
import type { ChangeStreams } from './functions/change-streams.ts';
import type { BackgroundTasks } from './load/background-tasks.ts';
import type { Limiters } from './load/limiters.ts';
import type { Logger } from './log.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Payments } from './payments/payments.ts';
import { webhookRoutes } from './payments/webhook.ts';
import { renewRoute, type Push } from './push/push.ts';
import { pageRoutes, type Site } from './http/pages.ts';
import type { SmsSender } from './sms-sender.ts';

export type Deps = {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  limiters: Limiters;
  /** Null unless traces are on. */
  traceRequests: MiddlewareHandler<AppEnv> | null;
  mailer: Mailer;
  /** Null when no SMS provider is configured. */
  sms: SmsSender | null;
  background: BackgroundTasks;
  accessTokens: AccessTokens;
  changeStreams: ChangeStreams;
  signingKeys: SigningKeys;
  /** Null when SAML is off. */
  samlKey: SamlKey | null;
  passwords: Passwords;
  /** Null when payments are not configured. */
  payments: Payments | null;
  /** Null when no coach is configured. */
  coach: Coach | null;
  reminders: ReminderWriter;
  writeQuota: WriteQuota;
  /** Null when no mail is received. */
  inbound: Inbound | null;
  /** Null where push messages are off. */
  push: Push | null;
  site: Site;
};

const SMALL_BODY_BYTES = 64 * 1024;
/** The forms of the pages that mails link to have no fields. A one-click unsubscription of a mail client has one. */
const MAIL_PAGE_BODY_BYTES = 1024;
/**
 * JSON may escape one byte as six (`\u003c`). A log that is somewhat too long passes this limit, and the data API
 * rejects it with a clearer error.
 */
const DATA_BODY_BYTES = ENTRY_MAX_BYTES * 6 + SMALL_BODY_BYTES;

export function createApp(deps: Deps): Hono<AppEnv> {
  const { config, log, site } = deps;
  const app = new Hono<AppEnv>();

  app.use(requestLog(deps));
  if (deps.traceRequests) app.use(deps.traceRequests);
  if (config.sandbox.on) app.use(hostGuard(config));

  app.route('/', healthRoutes(deps));

  const auth = createAuthDeps(deps);
  app.route('/auth/v1', authRoutes(auth));

  app.use('/rest/v1/*', limitBody(DATA_BODY_BYTES));
  app.route('/rest/v1', dataRoutes(deps));

  app.route('/functions/v1/paypal-webhook', webhookRoutes(deps));
  app.route('/functions/v1/slack', slackRoutes(deps));
  app.route('/functions/v1/inbound-mail', inboundRoutes({ ...deps, fetchText }));
  app.use(
    '/functions/v1/*',
    limitBody(SMALL_BODY_BYTES, { limitsByPath: { '/functions/v1/import-entries': IMPORT_BODY_BYTES } }),
  );
  app.route('/functions/v1', functionRoutes({ ...deps, auth }));

  app.use('/evening/*', limitBody(MAIL_PAGE_BODY_BYTES));
  app.use('/unsubscribe/*', limitBody(MAIL_PAGE_BODY_BYTES));
  if (deps.push !== null) app.route('/push', renewRoute({ ...deps, push: deps.push }));
  app.route('/', mailPageRoutes({ ...deps, ...deps.reminders }));

  if (config.sandbox.url !== null) {
    const forward = sandboxForward(config.sandbox.url);
    app.all('/sandbox', forward);
    app.all('/sandbox/*', forward);
  }

  app.route(SHARED_PATH.slice(0, -1), sharedRoutes(deps));
  app.use(canonicalHost(config, (path) => site.pages.has(path)));
  app.route('/', pageRoutes(site));

  // An unknown page redirects home; a missing file or API path gets an error.
  app.notFound((context) => {
    const { method, path } = context.req;
    if (isPageRequest(method, path, context.req.header('accept'))) return context.redirect('/', 302);
    // GET and HEAD of these addresses have routes, so this request has another method.
    const isServed = READ_ONLY_PATHS.has(path) || site.pages.has(path) || site.files.has(path);
    if (!isServed) return errorResponse(context, 'not_found');
    // The browser has sent a form without our script. Opens the page again and reads none of the form's fields.
    if (method === 'POST' && site.pages.has(path) && context.req.header('accept')?.includes('text/html'))
      return context.redirect(path, 303);
    context.header('Allow', 'GET, HEAD');
    return errorResponse(context, 'method_not_allowed');
  });
  app.onError((error, context) => {
    if (error instanceof BodyTooLargeError) return errorResponse(context, 'payload_too_large');
    log.error({ err: error, method: context.req.method }, 'unexpected failure');
    return errorResponse(context, 'unexpected_failure');
  });
  return app;
}

/**
 * Paths of which only GET and HEAD have a route; another method is answered with 405. `/metrics` is not among them,
 * because an installation may hide that it has metrics.
 */
const READ_ONLY_PATHS = new Set(['/healthz', '/readyz', '/config.json']);

/**
 * Files and API paths, which are answered with an error instead of a redirect. Among them are Supabase APIs that this
 * server does not have, because their clients expect JSON.
 */
const NON_PAGE_PATHS =
  /^\/(assets|auth|rest|functions|realtime|storage|graphql|sandbox)(\/|$)|\.(?!html$)[a-z0-9]{1,12}$/i;

const isPageRequest = (method: string, path: string, accept = '*/*'): boolean =>
  (method === 'GET' || method === 'HEAD') && !NON_PAGE_PATHS.test(path) && /text\/html|\*\/\*/.test(accept);

/**
 * Probes, scrapes and the files of pages: frequent requests, which are logged at debug level to keep the log readable.
 */
const DEBUG_ROUTES = new Set(['/healthz', '/readyz', '/metrics', '/assets/*']);

/** Logs one line per request with the route's pattern. Threat: URLs can contain tokens, so they are never logged. */
function requestLog({ log, metrics }: { log: Logger; metrics: Metrics }): MiddlewareHandler<AppEnv> {
  // All fields are listed below and none is a secret, so redaction is switched off to save time per request.
  const lines = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAt = performance.now();
    await next();
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const route = context.get('route') ?? routePath(context);
    const { method } = context.req;
    const { status } = context.res;
    metrics.observe({ method, route, status, ms });
    const level = logLevel(status, route);
    const userId = context.get('userId');
    const traceId = context.get('traceId');
    lines[level](
      { method, route, status, ms, ...(userId !== undefined && { userId }), ...(traceId !== undefined && { traceId }) },
      'request',
    );
  };
}

/**
 * Only a 500 is an error that a person must look into. A 502 means an unreachable simulator, a 503 overload, another
 * temporary failure or a feature that is off.
 */
function logLevel(status: number, route: string): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 500) return 'error';
  if (status > 500) return 'warn';
  return DEBUG_ROUTES.has(route) ? 'debug' : 'info';
}

// Reverse proxy from `/sandbox` to the simulators' process, so the server and the simulators share one origin.

/** @param baseUrl where the simulators listen, for example `http://127.0.0.1:40000` */
function sandboxForward(baseUrl: string): Handler<AppEnv> {
  return async (context) => {
    const url = new URL(context.req.url);
    try {
      return await proxy(`${baseUrl}${url.pathname}${url.search}`, {
        raw: context.req.raw,
        headers: { ...context.req.header(), host: undefined },
        redirect: 'manual',
      });
    } catch {
      return errorResponse(context, 'sandbox_unreachable');
    }
  };
}
