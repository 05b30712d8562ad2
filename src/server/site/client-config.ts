/** The public settings for the browser (`/config.json`, also inlined into every page to save a request). */
import type { ClientConfig } from '#domain/client-config.ts';
import type { Config } from '../config/config.ts';

export function clientConfig(config: Config): ClientConfig {
  const { auth } = config;
  // A real model may be configured while mail and payments use the sandbox.
  const sandboxModel = config.coach !== null && new URL(config.coach.baseUrl).origin === config.sandbox.url;
  return {
    apiUrl: config.apiUrl,
    publishableKey: config.publishableKey,
    features: {
      autoconfirm: config.auth.autoconfirm,
      payments: config.paypal !== null,
      coach: config.coach !== null,
      mail: config.mail.smtpUrl !== null,
      mailReplies: config.mail.smtpUrl !== null && config.inbound !== null,
      push: config.push !== null,
      sandbox: config.sandbox.url !== null,
      serviceWorker: config.serviceWorker,
    },
    signIn: {
      signups: auth.signups,
      providers: auth.oauthProviders.map(({ name, label }) => ({ name, label })),
      linking: auth.manualLinking,
      passkeys: auth.passkeys,
      mailCodes: config.mail.smtpUrl !== null,
      phone: auth.sms !== null,
      sso: auth.samlKeyFile !== null,
      captcha: auth.captcha && {
        provider: auth.captcha.provider,
        siteKey: auth.captcha.siteKey,
        scriptUrl: auth.captcha.scriptUrl,
      },
      wallets: auth.web3,
    },
    sandboxModel,
    coachProvider: sandboxModel ? "the sandbox's own model on this machine" : (config.coach?.providerName ?? null),
    paymentBlockedCountries: config.paymentBlockedCountries,
    contact: config.contact,
  };
}
