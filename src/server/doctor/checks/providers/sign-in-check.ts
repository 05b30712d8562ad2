/** Asks each provider of sign-in for its OpenID Connect configuration, or GitHub whether it answers. */
import { settingPrefix, type OAuthProvider } from '#server/config/auth-settings.ts';
import type { Config } from '#server/config/config.ts';
import { textAt } from '#server/payments/paypal/json-value.ts';
import { fault, off, ok, type Check, type Finding } from '../../check.ts';
import { sendRequest } from '../../request.ts';
import { CHECK_NETWORK, describeUnreachable } from './describe-unreachable.ts';

export const signInCheck = ({ auth: { oauthProviders } }: Config): Check => ({
  name: 'sign-in',
  async run(signal) {
    if (oauthProviders.length === 0) return [off('no provider for sign-in is set')];
    return Promise.all(oauthProviders.map((provider) => checkProvider(provider, signal)));
  },
});

async function checkProvider({ name, kind, issuer, apiBase }: OAuthProvider, signal: AbortSignal): Promise<Finding> {
  if (kind === 'github') {
    const reply = await sendRequest(`${apiBase ?? issuer}/rate_limit`, {
      headers: { 'User-Agent': 'hustle-forge' },
      signal,
    });
    // GitHub tells nobody whether a client id is right before a user signs in.
    if (reply.status === 0 || reply.status >= 500)
      return describeUnreachable(`${name} at ${apiBase ?? issuer}`, reply, CHECK_NETWORK);
    return ok(`${name} answers; only a sign-in can check its client id`);
  }
  const url = `${issuer}/.well-known/openid-configuration`;
  const reply = await sendRequest(url, { signal });
  const variable = `${settingPrefix(name)}_ISSUER`;
  if (reply.status !== 200)
    return describeUnreachable(
      `${name}: ${url}`,
      reply,
      `Check ${variable}: the address above /.well-known/openid-configuration.`,
    );
  const found = textAt(reply.json, 'issuer');
  if (found?.replace(/\/$/, '') !== issuer) {
    return fault(
      `${name} names ${found === null ? 'no issuer' : `the issuer ${found}`} instead of ${issuer}`,
      `Set ${variable} to the issuer that it names.`,
    );
  }
  const hasEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].every(
    (key) => textAt(reply.json, key) !== null,
  );
  return hasEndpoints
    ? ok(`${name} answers; only a sign-in can check its client secret`)
    : fault(
        `${name} names no endpoints at ${url}`,
        'The provider is not an OpenID Connect provider, or not for code flow.',
      );
}
