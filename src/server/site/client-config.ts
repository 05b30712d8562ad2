/** What the browser may know of the settings (`/config.json`, and the same in every page so that no request is needed). */
import type { ClientConfig } from '#domain/client-config.ts';
import type { Config } from '../config.ts';

export function clientConfig(config: Config): ClientConfig {
  // A real model may be set up beside the sandbox's mail and payments, so the sandbox alone does not say it.
  const sandboxModel = config.coach !== null && new URL(config.coach.baseUrl).origin === config.sandbox.url;
  return {
    apiUrl: config.apiUrl,
    publishableKey: config.publishableKey,
    features: {
      autoconfirm: config.auth.autoconfirm,
      payments: config.paypal !== null,
      coach: config.coach !== null,
      mail: config.mail.smtpUrl !== null,
      sandbox: config.sandbox.url !== null,
    },
    sandboxModel,
    coachProvider: sandboxModel ? "the sandbox's own model on this machine" : (config.coach?.readBy ?? null),
    paymentBlockedCountries: config.paymentBlockedCountries,
    contact: config.contact,
  };
}
