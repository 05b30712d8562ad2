/** The settings of accounts: which ways to sign in are on, and the providers behind them (docs/operations.md). */
import type { RedirectPattern } from './redirect-patterns.ts';
import { Secret, type SettingsReader } from './settings-reader.ts';

export type AuthSettings = {
  readonly autoconfirm: boolean;
  readonly rateLimits: boolean;
  readonly signingKeyFile: string | null;
  /**
   * Addresses outside PUBLIC_URL to which a sign-in or a link in a mail may redirect. The server also serves its pages
   * under the hosts of those with http or https.
   */
  readonly redirectPatterns: readonly RedirectPattern[];
  readonly clientAddressHeader: string | null;
  /** False: only an administrator creates accounts. */
  readonly signups: boolean;
  readonly anonymousUsers: boolean;
  /** Refuses new passwords that are easy to guess. */
  readonly passwordCheck: boolean;
  readonly passkeys: boolean;
  readonly web3: { readonly ethereum: boolean; readonly solana: boolean };
  readonly oauthProviders: readonly OAuthProvider[];
  /** A signed-in user can link further providers and remove ways to sign in. */
  readonly manualLinking: boolean;
  /** null: SAML is off. The file holds our private key as PEM. */
  readonly samlKeyFile: string | null;
  /** null: there are no texted codes. */
  readonly sms: SmsSettings | null;
  /** null: no request needs a captcha. */
  readonly captcha: CaptchaSettings | null;
};

export type OAuthProvider = {
  /** The `provider` of the API, such as `google`. */
  readonly name: string;
  /** Completes the text of the button, "Continue with …". */
  readonly label: string;
  /** `github` speaks plain OAuth 2 and has an API for mail addresses; every other provider speaks OpenID Connect. */
  readonly kind: 'oidc' | 'github';
  /** Origin and path of the issuer; for GitHub, the origin of its sign-in pages. */
  readonly issuer: string;
  /** Only GitHub: the origin of its API. */
  readonly apiBase: string | null;
  readonly clientId: string;
  readonly clientSecret: Secret;
};

export type SmsSettings = {
  readonly apiBase: string;
  readonly accountSid: string;
  readonly authToken: Secret;
  /** A number in E.164 form or a messaging service id. */
  readonly from: string;
  /** Dialling codes that codes may be sent to, such as `+49`; empty allows every country. */
  readonly countries: readonly string[];
  /** Maximum number of text messages in a day, of all server processes together. */
  readonly dailyLimit: number;
};

export type CaptchaSettings = {
  readonly provider: 'hcaptcha' | 'turnstile';
  readonly siteKey: string;
  readonly secret: Secret;
  readonly verifyUrl: string;
  /** The widget's script, which the browser loads. */
  readonly scriptUrl: string;
};

const GOOGLE_ISSUER = 'https://accounts.google.com';
const GITHUB = { issuer: 'https://github.com', apiBase: 'https://api.github.com' } as const;
const TWILIO_API = 'https://api.twilio.com';
const CAPTCHA_VERIFY_URLS = {
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
} as const;

export const CAPTCHA_SCRIPT_URLS = {
  hcaptcha: 'https://js.hcaptcha.com/1/api.js',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
} as const;

export function readAuthSettings(settings: SettingsReader, production: boolean, sendsMail: boolean): AuthSettings {
  const oauthProviders = readOAuthProviders(settings, production);
  const sms = readSmsSettings(settings, production);
  return {
    // Off by default in production with mail. Threat: with autoconfirm a stranger signs up with another person's
    // address (docs/specification/accounts.md 17).
    autoconfirm: settings.onOff('AUTH_AUTOCONFIRM', !(production && sendsMail)),
    rateLimits: settings.onOff('AUTH_RATE_LIMITS', true),
    signingKeyFile: settings.optionalPath('AUTH_SIGNING_KEY_FILE'),
    redirectPatterns: settings.redirectPatterns('AUTH_REDIRECT_URLS'),
    clientAddressHeader: settings.headerName('CLIENT_ADDRESS_HEADER', 'X-Forwarded-For'),
    signups: settings.onOff('AUTH_SIGNUPS', true),
    anonymousUsers: settings.onOff('AUTH_ANONYMOUS', false),
    passwordCheck: settings.onOff('AUTH_PASSWORD_CHECK', true),
    passkeys: settings.onOff('AUTH_PASSKEYS', true),
    web3: { ethereum: settings.onOff('AUTH_ETHEREUM', false), solana: settings.onOff('AUTH_SOLANA', false) },
    oauthProviders,
    manualLinking: settings.onOff('AUTH_MANUAL_LINKING', oauthProviders.length > 0 || sms !== null),
    samlKeyFile: settings.optionalPath('AUTH_SAML_KEY_FILE'),
    sms,
    captcha: readCaptchaSettings(settings, production),
  };
}

/** Reads GOOGLE_*, GITHUB_* and, for each name that OIDC_PROVIDERS lists, OIDC_<NAME>_*. */
function readOAuthProviders(settings: SettingsReader, production: boolean): OAuthProvider[] {
  const oidcNames = settings.list('OIDC_PROVIDERS').filter((name) => {
    const isValid = /^[a-z][a-z0-9_]{0,30}$/.test(name) && !RESERVED_PROVIDERS.has(name);
    if (!isValid) settings.problem('OIDC_PROVIDERS', `must list names of small letters, not "${name}"`, 'keycloak');
    return isValid;
  });
  const candidates = [
    readProvider(settings, production, { name: 'google', label: 'Google', kind: 'oidc', issuer: GOOGLE_ISSUER }),
    readProvider(settings, production, { name: 'github', label: 'GitHub', kind: 'github', ...GITHUB }),
    ...oidcNames.map((name) => readProvider(settings, production, { name, label: name, kind: 'oidc', issuer: null })),
  ];
  return candidates.filter((provider) => provider !== null);
}

const RESERVED_PROVIDERS: ReadonlySet<string> = new Set(['email', 'phone', 'google', 'github', 'web3', 'anonymous']);

/** How the names of a provider's settings begin: GOOGLE, GITHUB or OIDC_<NAME>. */
export const settingPrefix = (name: string): string =>
  (RESERVED_PROVIDERS.has(name) ? name : `OIDC_${name}`).toUpperCase();

type ProviderDefaults = Pick<OAuthProvider, 'name' | 'label' | 'kind'> & { issuer: string | null; apiBase?: string };

function readProvider(settings: SettingsReader, production: boolean, known: ProviderDefaults): OAuthProvider | null {
  const prefix = settingPrefix(known.name);
  const issuer = settings.providerUrl(`${prefix}_ISSUER`, 'https://id.example.com', known.issuer, production);
  const apiBase =
    known.apiBase === undefined
      ? null
      : settings.providerUrl(`${prefix}_API_BASE`, known.apiBase, known.apiBase, production);
  const [clientId, clientSecret] = [`${prefix}_CLIENT_ID`, `${prefix}_CLIENT_SECRET`].map((name) =>
    settings.optional(name),
  );
  const label = settings.text(`${prefix}_LABEL`, known.label);
  if (clientId === null && clientSecret === null && known.issuer !== null) return null;
  if (!clientId) settings.problem(`${prefix}_CLIENT_ID`, 'must be set for this provider', 'hustle-forge');
  if (!clientSecret) settings.problem(`${prefix}_CLIENT_SECRET`, 'must be set for this provider', 'GOCSPX-...');
  if (issuer === null) settings.problem(`${prefix}_ISSUER`, 'must be set for this provider', 'https://id.example.com');
  if (!clientId || !clientSecret || issuer === null) return null;
  const { name, kind } = known;
  return { name, label, kind, issuer, apiBase, clientId, clientSecret: new Secret(clientSecret) };
}

function readSmsSettings(settings: SettingsReader, production: boolean): SmsSettings | null {
  const apiBase = settings.providerUrl('SMS_API_BASE', TWILIO_API, TWILIO_API, production) ?? TWILIO_API;
  const [accountSid, authToken, from] = ['SMS_ACCOUNT_SID', 'SMS_AUTH_TOKEN', 'SMS_FROM'].map((name) =>
    settings.optional(name),
  );
  const countries = settings.list('SMS_COUNTRIES');
  for (const code of countries) {
    if (!/^\+[1-9]\d{0,3}$/.test(code))
      settings.problem('SMS_COUNTRIES', `must list dialling codes, not "${code}"`, '+49,+1');
  }
  const dailyLimit = settings.integer('SMS_DAILY_LIMIT', 300, 1, 1_000_000);
  if (!accountSid && !authToken && !from) return null;
  if (!accountSid) settings.problem('SMS_ACCOUNT_SID', 'must be set to send texts', 'AC0123456789abcdef');
  if (!authToken) settings.problem('SMS_AUTH_TOKEN', 'must be set to send texts', '0123456789abcdef');
  if (!from) settings.problem('SMS_FROM', 'must be set to send texts', '+4915112345678');
  if (!accountSid || !authToken || !from) return null;
  return { apiBase, accountSid, authToken: new Secret(authToken), from, countries, dailyLimit };
}

function readCaptchaSettings(settings: SettingsReader, production: boolean): CaptchaSettings | null {
  const provider = settings.oneOf('CAPTCHA_PROVIDER', ['off', 'hcaptcha', 'turnstile'], 'off');
  const [siteKey, secret] = ['CAPTCHA_SITE_KEY', 'CAPTCHA_SECRET'].map((name) => settings.optional(name));
  const configuredUrl = settings.providerUrl('CAPTCHA_VERIFY_URL', CAPTCHA_VERIFY_URLS.hcaptcha, null, production);
  const scriptUrl = settings.providerUrl('CAPTCHA_SCRIPT_URL', CAPTCHA_SCRIPT_URLS.hcaptcha, null, production);
  if (provider === 'off') return null;
  const verifyUrl = configuredUrl ?? CAPTCHA_VERIFY_URLS[provider];
  if (!siteKey)
    settings.problem('CAPTCHA_SITE_KEY', 'must be set with CAPTCHA_PROVIDER', '10000000-ffff-ffff-ffff-000000000001');
  if (!secret) settings.problem('CAPTCHA_SECRET', 'must be set with CAPTCHA_PROVIDER', '0x0000000000000000');
  if (!siteKey || !secret) return null;
  return {
    provider,
    siteKey,
    secret: new Secret(secret),
    verifyUrl,
    scriptUrl: scriptUrl ?? CAPTCHA_SCRIPT_URLS[provider],
  };
}
