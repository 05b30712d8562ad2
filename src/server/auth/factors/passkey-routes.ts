/** The routes of passkeys. Their modules load at the first request, and never while passkeys are off. */
import type { Endpoint, Route } from '../http/auth-deps.ts';
import { lazyEndpoint } from '../http/lazy-endpoint.ts';
import { AuthError } from '../http/errors.ts';

function passkeyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  const endpoint = lazyEndpoint(load);
  return (context, deps) => {
    if (!deps.config.auth.passkeys) throw new AuthError(404, 'passkey_disabled', 'Passkeys are disabled');
    return endpoint(context, deps);
  };
}

const registration = (name: keyof typeof import('./register-passkey.ts')): Endpoint =>
  passkeyEndpoint(async () => (await import('./register-passkey.ts'))[name]);
const authentication = (name: keyof typeof import('./passkey-sign-in.ts')): Endpoint =>
  passkeyEndpoint(async () => (await import('./passkey-sign-in.ts'))[name]);
const own = (name: 'listPasskeys' | 'updatePasskey' | 'deletePasskey'): Endpoint =>
  passkeyEndpoint(async () => (await import('./own-passkeys.ts'))[name]);

export const PASSKEY_ROUTES: readonly Route[] = [
  ['POST', '/passkeys/registration/options', registration('registrationOptions')],
  ['POST', '/passkeys/registration/verify', registration('verifyRegistration')],
  ['POST', '/passkeys/authentication/options', authentication('authenticationOptions')],
  ['POST', '/passkeys/authentication/verify', authentication('verifyAuthentication')],
  ['GET', '/passkeys', own('listPasskeys')],
  ['PATCH', '/passkeys/:id', own('updatePasskey')],
  ['DELETE', '/passkeys/:id', own('deletePasskey')],
];
