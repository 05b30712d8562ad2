/** PayPal's settings: the account, the API's host, the webhook. */
import { isLoopback } from '#server/config/loopback.ts';
import { Secret } from '#server/config/secret.ts';
import type { SettingsReader } from '#server/config/settings-reader.ts';

export type PaypalSettings = {
  /** Origin of the REST API. */
  readonly apiBase: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The id of the webhook subscription. Null: PayPal sends no webhooks, so a job polls PayPal more often. */
  readonly webhookId: string | null;
};

const LIVE_API = 'https://api-m.paypal.com';

/** Null: payments are off. A client id, secret or webhook id without the rest of the credentials is reported. */
export function readPaypalSettings(settings: SettingsReader, production: boolean): PaypalSettings | null {
  const apiBase = settings.url('PAYPAL_API_BASE', 'https://api-m.sandbox.paypal.com', LIVE_API) ?? LIVE_API;
  const clientId = settings.optional('PAYPAL_CLIENT_ID');
  const clientSecret = settings.optional('PAYPAL_CLIENT_SECRET');
  const webhookId = settings.optional('PAYPAL_WEBHOOK_ID');

  // Threat: the server at this address receives the secret and decides what counts as paid, and over plain http anybody
  // in the network can answer in its place. So only a simulator on this machine needs no https.
  const { protocol, hostname } = new URL(apiBase);
  if (production && isLoopback(hostname)) {
    settings.problem('PAYPAL_API_BASE', 'must not be loopback with NODE_ENV=production', LIVE_API);
  } else if (protocol !== 'https:' && (production || !isLoopback(hostname))) {
    settings.problem('PAYPAL_API_BASE', 'must begin with https://', LIVE_API);
  }
  if (clientId === null && (clientSecret !== null || webhookId !== null)) {
    settings.problem('PAYPAL_CLIENT_ID', 'must be set when the other settings of PayPal are', 'AZDxjDScFpQtjWTO...');
  }
  if (clientSecret === null && (clientId !== null || webhookId !== null)) {
    settings.problem(
      'PAYPAL_CLIENT_SECRET',
      'must be set when the other settings of PayPal are',
      'EGnHDxD_qRPdaLdZ...',
    );
  }
  if (clientId === null || clientSecret === null) return null;
  return {
    apiBase,
    clientId,
    clientSecret: new Secret(clientSecret),
    webhookId,
  };
}

/** Countries whose residents cannot pay by PayPal, as ISO codes. */
export function readBlockedCountries(settings: SettingsReader): string[] {
  const codes = settings.list('PAYMENT_BLOCKED_COUNTRIES').map((code) => code.toUpperCase());
  for (const code of codes) {
    if (/^[A-Z]{2}$/.test(code)) continue;
    settings.problem('PAYMENT_BLOCKED_COUNTRIES', `must list two-letter country codes, not "${code}"`, 'CU,IR,KP,SY');
  }
  return codes;
}
