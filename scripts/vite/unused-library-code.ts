/**
 * Leaves out library code that the app does not need, but that the bundler keeps because methods of a class refer to it.
 * In auth-js: the administrator's API, and the texts that explain errors of security keys, because the app reads only the
 * names of these errors. In query-core: infinite queries.
 */
import { basename } from 'node:path';
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

const INFINITE_QUERIES = `
  function leftOut() {
    throw new Error('scripts/vite/unused-library-code.ts leaves out infinite queries');
  }
  export { leftOut as infiniteQueryBehavior, leftOut as hasNextPage, leftOut as hasPreviousPage };`;

const REPLACEMENTS: Record<string, string> = {
  GoTrueAdminApi: ADMIN_API,
  'webauthn.errors': SECURITY_KEY_ERRORS,
  infiniteQueryBehavior: INFINITE_QUERIES,
};

export function unusedLibraryCode(): Plugin {
  return {
    name: 'unused-library-code',
    apply: 'build',
    enforce: 'pre',
    load: {
      filter: {
        id: /(@supabase\/auth-js\/dist\/module\/.*(GoTrueAdminApi|webauthn\.errors)|@tanstack\/query-core\/build\/modern\/infiniteQueryBehavior)\.js$/,
      },
      handler: (id) => REPLACEMENTS[basename(id, '.js')],
    },
  };
}
