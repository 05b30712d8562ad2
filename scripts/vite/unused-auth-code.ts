/**
 * Leaves out code of auth-js that the app does not need: the administrator's API, and the texts that explain errors of
 * security keys, because the app reads only the names of these errors. The bundler keeps this code otherwise, because
 * methods of the client's single class refer to it.
 */
import type { Plugin } from 'vite';

/** `signOut` of the client is the only caller of the administrator's API, with the user's own token. */
const ADMIN_API = `
  import { isAuthError } from './lib/errors';
  import { _request } from './lib/fetch';
  export default class {
    constructor(options) {
      Object.assign(this, options);
    }
    async signOut(jwt, scope) {
      try {
        const options = { headers: this.headers, jwt, noResolveJson: true };
        await _request(this.fetch, 'POST', this.url + '/logout?scope=' + scope, options);
        return { data: null, error: null };
      } catch (error) {
        if (isAuthError(error)) return { data: null, error };
        throw error;
      }
    }
  }`;

/** Replaces the module that explains errors: its functions return the browser's own error, which has the same name. */
const SECURITY_KEY_ERRORS = `
  export class WebAuthnError extends Error {}
  export class WebAuthnUnknownError extends WebAuthnError {
    constructor(message, cause) {
      super(message, { cause });
    }
  }
  export const isWebAuthnError = (error) => error instanceof WebAuthnError;
  export const identifyRegistrationError = ({ error }) => error;
  export const identifyAuthenticationError = ({ error }) => error;`;

export function unusedAuthCode(): Plugin {
  return {
    name: 'unused-auth-code',
    apply: 'build',
    enforce: 'pre',
    load: {
      filter: { id: /@supabase\/auth-js\/dist\/module\/.*(GoTrueAdminApi|webauthn\.errors)\.js$/ },
      handler: (id) => (id.endsWith('GoTrueAdminApi.js') ? ADMIN_API : SECURITY_KEY_ERRORS),
    },
  };
}
