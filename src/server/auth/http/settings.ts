/** GET /settings: the enabled sign-in methods (docs/specification/wire.md 17). */
import type { Endpoint } from './auth-deps.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';

export const settings: Endpoint = (context, { config: { auth } }) => {
  const configured = auth.oauthProviders.map(({ name }) => [name, true] as const);
  return context.json({
    external: {
      ...Object.fromEntries([...KNOWN_PROVIDERS].map((name) => [name, false])),
      ...Object.fromEntries(configured),
      anonymous_users: auth.anonymousUsers,
      email: true,
      phone: auth.sms !== null,
    },
    disable_signup: !auth.signups,
    mailer_autoconfirm: auth.autoconfirm,
    phone_autoconfirm: false,
    sms_provider: auth.sms === null ? '' : 'twilio',
    saml_enabled: auth.samlKeyFile !== null,
    saml_private_key_next_configured: false,
    passkeys_enabled: auth.passkeys,
  });
};
