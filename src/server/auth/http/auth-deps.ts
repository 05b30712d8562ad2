import type { Context } from 'hono';
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Metrics } from '#server/http/metrics.ts';
import type { BackgroundTasks } from '#server/load/background-tasks.ts';
import type { Logger } from '#server/log.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import type { SmsSender } from '#server/sms-sender.ts';
import type { AccessTokens } from '../keys/access-tokens.ts';
import type { SamlKey } from '../keys/key-file.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { PersonalTokens } from '../keys/personal-tokens.ts';
import type { RateLimits } from './rate-limits.ts';

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
  tokens: PersonalTokens;
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
 * A handler of a route. `given` has what the route table promises for it, such as the caller and the body
 * (`dispatch.ts`). Returns a success, a redirect or a page. Other errors are thrown, mostly as an AuthError, and
 * `authErrorResponse` builds the response.
 */
export type Endpoint<Given = unknown> = (
  context: Context<AppEnv>,
  deps: AuthDeps,
  given: Given,
) => Promise<Response> | Response;

export interface Passwords {
  /**
   * Returns an argon2id hash in the PHC string format, of the password in Unicode's form NFC: keyboards write `é` as
   * one character or as two. Throws BusyError.
   */
  hash(password: string): Promise<string>;
  /**
   * With `hash` null (no such account, or no password) it returns false after the same time as with a real hash.
   * Throws BusyError.
   */
  matches(password: string, hash: string | null): Promise<boolean>;
  /**
   * Whether attackers would guess the password soon. Throws BusyError.
   *
   * @param ownTexts what is known of its owner, such as name and address
   */
  isGuessable(password: string, ownTexts: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}
