import type { Context } from 'hono';
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Metrics } from '#server/http/metrics.ts';
import type { Logger } from '#server/log.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import type { BackgroundTasks } from '#server/jobs/background-tasks.ts';
import type { SmsSender } from '#server/sms/sms-sender.ts';
import type { AccessTokens } from '../keys/access-tokens.ts';
import type { Passwords } from '../password/passwords.ts';
import type { RateLimits } from './rate-limits.ts';
import type { SamlKey } from '../keys/saml-key.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';

/** The dependencies of `authRoutes`. */
export type AuthRoutesDeps = {
  config: Pick<Config, 'publicUrl' | 'auth' | 'contact'>;
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Mailer;
  /** Null: there are no texted codes. */
  sms: SmsSender | null;
  background: BackgroundTasks;
  accessTokens: AccessTokens;
  signingKeys: SigningKeys;
  /** Null: SAML is off. */
  samlKey: SamlKey | null;
  passwords: Passwords;
  metrics: Pick<Metrics, 'events'>;
};

/** The dependencies of an endpoint. */
export type AuthDeps = AuthRoutesDeps & {
  limits: RateLimits;
  secrets: {
    refreshTokens: Buffer;
    oneTimeCodes: Buffer;
    devices: Buffer;
    unknownAccounts: Buffer;
    /** Seals TOTP secrets. */
    factors: Buffer;
    recoveryCodes: Buffer;
    /** Seals `auth.flows.provider_secrets`: the secrets of a flow's start, later the provider's tokens. */
    providerTokens: Buffer;
  };
};

/**
 * Returns a success or a redirect. An error response is thrown, mostly as an AuthError; `authErrorResponse` builds it.
 */
export type Endpoint = (context: Context<AppEnv>, deps: AuthDeps) => Promise<Response> | Response;

/** Method, path and endpoint. */
export type Route = readonly ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string, Endpoint];
