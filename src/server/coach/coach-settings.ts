import { FAIR_USE_ANALYSES } from '#domain/coach/coach.ts';
import { isLoopback } from '../config/loopback.ts';
import { isPrivateNetworkHost } from '../config/private-network.ts';
import type { Secret } from '../config/secret.ts';
import type { SettingsReader } from '../config/settings-reader.ts';

export type CoachProvider = 'google' | 'anthropic' | 'openai-compatible';

/**
 * How the model is made to answer in a fixed format: a JSON schema, any JSON object, or marked lines of text. `auto`
 * tries the schema and falls back to text if the endpoint rejects it.
 */
export type StructuredBy = 'schema' | 'json' | 'text' | 'auto';

export type CoachSettings = {
  readonly provider: CoachProvider;
  readonly model: string;
  /** The base address of the provider's API with its path, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret | null;
  readonly structuredBy: StructuredBy;
  /** Maximum number of analyses per user and UTC day that are sent to the provider. */
  readonly dailyLimit: number;
  readonly timeoutMs: number;
  /** The provider's name in the text that asks for consent. */
  readonly providerName: string;
};

type ProviderFacts = { home: string | null; path: string; model: string | null; name: string };

const PROVIDERS: Readonly<Record<CoachProvider, ProviderFacts>> = {
  google: {
    home: 'https://generativelanguage.googleapis.com',
    path: '/v1beta',
    model: 'gemini-flash-latest',
    name: 'Google Gemini',
  },
  anthropic: { home: 'https://api.anthropic.com', path: '/v1', model: null, name: 'Anthropic Claude' },
  'openai-compatible': { home: null, path: '/v1', model: null, name: 'an AI service' },
};

const EXAMPLE_KEY = 'the-key-from-your-account-there';

/** Null when no coach is configured. */
export function readCoachSettings(settings: SettingsReader, production: boolean): CoachSettings | null {
  const provider = settings.oneOf('AI_PROVIDER', ['google', 'anthropic', 'openai-compatible', 'none'], 'none');
  const model = settings.optional('AI_MODEL');
  const hasKey = settings.optional('AI_API_KEY') !== null;
  const structured = settings.oneOf('AI_STRUCTURED', ['auto', 'schema', 'json', 'text'], 'auto');
  const dailyLimit = settings.integer('AI_DAILY_LIMIT', FAIR_USE_ANALYSES, 1, 100_000);
  const timeoutMs = settings.integer('AI_TIMEOUT_MS', 60_000, 1_000, 600_000);
  if (provider === 'none') {
    const hasOtherSettings = model !== null || hasKey || settings.optional('AI_BASE_URL') !== null;
    if (hasOtherSettings && settings.optional('AI_PROVIDER') === null)
      settings.problem('AI_PROVIDER', 'must be set when the other settings of the coach are', 'google');
    return null;
  }
  const facts = PROVIDERS[provider];
  const baseUrl = readBaseUrl(settings, provider, facts, production);
  if (model === null && facts.model === null) {
    settings.problem('AI_MODEL', `must name a model with AI_PROVIDER=${provider}`, 'the-name-the-provider-gives-it');
  }
  const apiKey = settings.headerKey('AI_API_KEY', EXAMPLE_KEY);
  if (!hasKey && provider !== 'openai-compatible') {
    settings.problem('AI_API_KEY', `must be set with AI_PROVIDER=${provider}`, EXAMPLE_KEY);
  }
  const { origin, host } = new URL(baseUrl);
  return {
    provider,
    model: model ?? facts.model ?? '',
    baseUrl,
    apiKey,
    structuredBy: structured === 'auto' && provider !== 'openai-compatible' ? 'schema' : structured,
    dailyLimit,
    timeoutMs,
    providerName: origin === facts.home ? facts.name : `the AI service at ${host}`,
  };
}

function readBaseUrl(
  settings: SettingsReader,
  provider: CoachProvider,
  { home, path }: ProviderFacts,
  production: boolean,
): string {
  const example = provider === 'openai-compatible' ? 'http://127.0.0.1:11434/v1' : `${home}${path}`;
  const value = settings.optional('AI_BASE_URL');
  if (value === null) {
    if (home === null) settings.problem('AI_BASE_URL', `must be set with AI_PROVIDER=${provider}`, example);
    return home === null ? example : `${home}${path}`;
  }
  const url = URL.canParse(value) ? new URL(value) : null;
  const isBare = url !== null && [url.search, url.hash, url.username, url.password].every((part) => part === '');
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    settings.problem('AI_BASE_URL', `must be an http or https address without credentials or query`, example);
    return example;
  }
  // Threat: journals and the API key cross the internet unencrypted. Only a self-hosted model in a private network, which
  // often speaks plain http, needs no https.
  const isHttpAllowed =
    provider === 'openai-compatible' ? isPrivateNetworkHost(url.hostname) : !production && isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !isHttpAllowed) settings.problem('AI_BASE_URL', 'must begin with https://', example);
  return url.pathname === '/' ? `${url.origin}${path}` : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
