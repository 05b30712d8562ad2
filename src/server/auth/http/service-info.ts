/** The public facts of this server: its settings, its version and its public keys. */
import manifest from '../../../../package.json' with { type: 'json' };
import { JWKS_CACHE_SECONDS } from '../keys/signing-keys.ts';
import type { Endpoint } from './auth-deps.ts';

/** GET /settings: the enabled sign-in methods, in the format of supabase/auth. */
export const showSettings: Endpoint = (context, { config: { auth } }) => {
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

/** Providers of supabase/auth. The error for one that is not configured says so; any other name is called unknown. */
export const KNOWN_PROVIDERS: ReadonlySet<string> = new Set([
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'figma',
  'fly',
  'github',
  'gitlab',
  'google',
  'kakao',
  'keycloak',
  'linkedin',
  'linkedin_oidc',
  'notion',
  'slack',
  'slack_oidc',
  'snapchat',
  'spotify',
  'twitch',
  'twitter',
  'workos',
  'zoom',
]);

/** GET /health, in the format of supabase/auth. */
export const showHealth: Endpoint = (context) =>
  context.json({ version: manifest.version, name: 'GoTrue', description: 'Hustle Forge accounts' });

/** GET /.well-known/jwks.json: the public keys that verify access tokens. */
export const showPublicKeys: Endpoint = async (context, { signingKeys }) => {
  context.header('Cache-Control', `public, max-age=${JWKS_CACHE_SECONDS}`);
  return context.json(await signingKeys.publish());
};
