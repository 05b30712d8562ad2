/** The settings of the coach: whose model answers, where, and how much one user may ask for in a day. */
import { FAIR_USE_ANALYSES } from '#domain/coach/coach.ts';
import { isLoopback } from '../config/loopback.ts';
import { isPrivateNetworkHost } from '../config/private-network.ts';
import type { Secret } from '../config/secret.ts';
import type { SettingsReader } from '../config/settings-reader.ts';

export type CoachProvider = 'google' | 'anthropic' | 'openai-compatible';

/**
 * How the model is made to keep to a form: a schema, JSON of any form, or lines in its text. `auto`: by schema, and by
 * lines where the endpoint turns out to take none.
 */
export type StructuredBy = 'schema' | 'json' | 'text' | 'auto';

export type CoachSettings = {
  readonly provider: CoachProvider;
  readonly model: string;
  /** With its path, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret | null;
  readonly structuredBy: StructuredBy;
  /** Analyses that are sent to the provider for one user between two midnights (UTC). */
  readonly dailyLimit: number;
  readonly timeoutMs: number;
  /** Who reads the journal's text, as the sentence that asks for consent says it. */
  readonly readBy: string;
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

/** null: there is no coach. */
export function readCoachSettings(settings: SettingsReader, production: boolean): CoachSettings | null {
  const chosen = settings.oneOf('AI_PROVIDER', ['google', 'anthropic', 'openai-compatible', 'none'], 'none');
  const model = settings.optional('AI_MODEL');
  const keySet = settings.optional('AI_API_KEY') !== null;
  const structured = settings.oneOf('AI_STRUCTURED', ['auto', 'schema', 'json', 'text'], 'auto');
  const dailyLimit = settings.integer('AI_DAILY_LIMIT', FAIR_USE_ANALYSES, 1, 100_000);
  const timeoutMs = settings.integer('AI_TIMEOUT_MS', 60_000, 1_000, 600_000);
  if (chosen === 'none') {
    const meant = model !== null || keySet || settings.optional('AI_BASE_URL') !== null;
    if (meant && settings.optional('AI_PROVIDER') === null)
      settings.problem('AI_PROVIDER', 'must be set when the other settings of the coach are', 'google');
    return null;
  }
  const facts = PROVIDERS[chosen];
  const baseUrl = readBaseUrl(settings, chosen, facts, production);
  if (model === null && facts.model === null) {
    settings.problem('AI_MODEL', `must name a model with AI_PROVIDER=${chosen}`, 'the-name-the-provider-gives-it');
  }
  const apiKey = settings.headerKey('AI_API_KEY', EXAMPLE_KEY);
  if (!keySet && chosen !== 'openai-compatible') {
    settings.problem('AI_API_KEY', `must be set with AI_PROVIDER=${chosen}`, EXAMPLE_KEY);
  }
  const { origin, host } = new URL(baseUrl);
  return {
    provider: chosen,
    model: model ?? facts.model ?? '',
    baseUrl,
    apiKey,
    structuredBy: structured === 'auto' && chosen !== 'openai-compatible' ? 'schema' : structured,
    dailyLimit,
    timeoutMs,
    readBy: origin === facts.home ? facts.name : `the AI service at ${host}`,
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
  // Threat: journals and the key in clear on their way through the internet. One's own model server is often http.
  const mayBeClear =
    provider === 'openai-compatible' ? isPrivateNetworkHost(url.hostname) : !production && isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !mayBeClear) settings.problem('AI_BASE_URL', 'must begin with https://', example);
  return url.pathname === '/' ? `${url.origin}${path}` : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
