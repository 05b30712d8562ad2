/** GET /settings: the enabled sign-in methods (docs/specification/wire.md 17). */
import type { Endpoint } from '../auth-deps.ts';

const PROVIDERS_OFF = [
  'anonymous_users',
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'snapchat',
  'figma',
  'fly',
  'github',
  'gitlab',
  'google',
  'keycloak',
  'kakao',
  'linkedin',
  'linkedin_oidc',
  'notion',
  'spotify',
  'slack',
  'slack_oidc',
  'workos',
  'twitch',
  'twitter',
  'phone',
  'zoom',
] as const;

export const settings: Endpoint = (context, { config }) =>
  context.json({
    external: { ...Object.fromEntries(PROVIDERS_OFF.map((name) => [name, false])), email: true },
    disable_signup: false,
    mailer_autoconfirm: config.auth.autoconfirm,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  });
