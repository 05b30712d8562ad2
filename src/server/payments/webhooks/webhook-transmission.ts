/** The signature headers of a webhook. PayPal verifies them. Here only their form and age are checked. */
import type { WebhookTransmission } from '../paypal/paypal-client.ts';

/** PayPal retries a delivery for three days, and four days leave a margin. */
const MAX_AGE_MS = 4 * 24 * 60 * 60_000;
const MAX_FUTURE_MS = 5 * 60_000;

const HEADERS: Record<keyof WebhookTransmission, { name: string; form: RegExp }> = {
  id: { name: 'paypal-transmission-id', form: /^[\x21-\x7b\x7d\x7e]{1,100}$/ },
  time: { name: 'paypal-transmission-time', form: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/ },
  signature: { name: 'paypal-transmission-sig', form: /^[A-Za-z0-9+/]{4,1400}={0,2}$/ },
  certUrl: { name: 'paypal-cert-url', form: /^https?:\/\/[\x21-\x7e]{1,500}$/ },
  algorithm: { name: 'paypal-auth-algo', form: /^[A-Za-z0-9]{1,100}$/ },
};

/** Null when a header is missing or malformed. */
export function readTransmission(header: (name: string) => string | undefined): WebhookTransmission | null {
  const read = (field: keyof WebhookTransmission): string => {
    const value = header(HEADERS[field].name);
    return value !== undefined && HEADERS[field].form.test(value) ? value : '';
  };
  const transmission = {
    id: read('id'),
    time: read('time'),
    signature: read('signature'),
    certUrl: read('certUrl'),
    algorithm: read('algorithm'),
  };
  return Object.values(transmission).includes('') ? null : transmission;
}

/** Threat: somebody replays an old genuine webhook. PayPal's signature covers the time, so its age cannot be forged. */
export function isTimely({ time }: WebhookTransmission, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(time);
  return ageMs <= MAX_AGE_MS && ageMs >= -MAX_FUTURE_MS;
}
