/**
 * Counts the requests to the providers (PayPal, the model, sign-in providers, captcha, text messages) by outcome.
 * Node's `fetch` reports each request on a diagnostics channel, so no provider's client has to count.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Config } from '../config/config.ts';
import { Counter, type MetricsRegistry } from './prom-client.ts';

/**
 * A message of undici's channels for requests
 * (https://github.com/nodejs/undici/blob/main/docs/docs/api/DiagnosticsChannel.md).
 */
export type FetchMessage = {
  request: { origin: string | URL; method: string; path: string; addHeader(name: string, value: string): void };
  response?: { statusCode: number };
  error?: Error;
};

/** Names the provider of a request by the beginning of its address; any other address is `other`. */
export function createProviderNames({ auth, coach, paypal }: Config): (request: FetchMessage['request']) => string {
  const bases: readonly (readonly [string | null | undefined, string])[] = [
    [paypal?.apiBase, 'paypal'],
    [coach?.baseUrl, 'model'],
    [auth.sms?.apiBase, 'sms'],
    [auth.captcha?.verifyUrl, 'captcha'],
    ...auth.oauthProviders.flatMap(({ issuer, apiBase }) => [
      [issuer, 'identity'] as const,
      [apiBase, 'identity'] as const,
    ]),
  ];
  return ({ origin, path }) => {
    const url = `${String(origin)}${path}`;
    return bases.find(([base]) => base && url.startsWith(base))?.[1] ?? 'other';
  };
}

/** Returns a function that stops counting. */
export function registerProviderRequests(
  registry: MetricsRegistry,
  providerOf: (request: FetchMessage['request']) => string,
): () => void {
  const requests = new Counter({
    name: 'hustle_forge_provider_requests_total',
    help: 'Requests to providers by outcome: the class of the status, or error without an answer.',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  });
  const count = (message: unknown, outcome: string): void => {
    requests.inc({ provider: providerOf((message as FetchMessage).request), outcome });
  };
  const onHeaders = (message: unknown): void =>
    count(message, `${Math.floor((message as FetchMessage).response!.statusCode / 100)}xx`);
  const onError = (message: unknown): void => count(message, 'error');
  subscribe('undici:request:headers', onHeaders);
  subscribe('undici:request:error', onError);
  return () => {
    unsubscribe('undici:request:headers', onHeaders);
    unsubscribe('undici:request:error', onError);
  };
}
