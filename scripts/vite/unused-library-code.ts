/**
 * Leaves out library code that the app does not need, but that the bundler keeps because methods of a class refer to it.
 * Of auth-js: the administrator's API, debug messages, a polyfill, methods that nothing calls, and the explanations of
 * security keys' errors, of which the app reads only the names. Of query-core: infinite queries.
 */
import { basename } from 'node:path';
import type { Plugin } from 'vite';

/** In auth-js only `signOut` of `GoTrueClient` calls this API, with the user's token. The stub has only this method. */
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

/** auth-js wraps a browser's error in one with an explanation. These functions return the browser's error instead. */
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
  // Every browser that can run the built files (ES2023) has `globalThis`.
  polyfills: 'export const polyfillGlobalThis = () => {};',
};

/**
 * Methods of the client that neither the app nor the rest of the client calls. `_getSessionFromURL` is behind the option
 * `detectSessionInUrl`, which is off.
 */
const UNUSED_CLIENT_METHODS = [
  '_approveAuthorization',
  '_denyAuthorization',
  '_getAuthenticatorAssuranceLevel',
  '_getAuthorizationDetails',
  '_getSessionFromURL',
  '_listOAuthGrants',
  '_revokeOAuthGrant',
  '_unenrollRecoveryCodes',
  'fetchJwk',
  'getClaims',
  'getUserIdentities',
  'linkIdentityIdToken',
  'registerPasskey',
  'signInAnonymously',
  'signInWithIdToken',
  'signInWithPasskey',
  'unlinkIdentity',
];
/** The calls print nothing, because the option `debug` is off. */
const DEBUG_CALLS = /^ *this\._debug\(.*\);$/gm;
/** `_register` enrols and verifies a key in one call. The app enrols it like other factors and then authenticates. */
const UNUSED_SECURITY_KEY_METHODS = ['_register'];

/** Empties the methods and keeps their names, because the constructor binds some of them. Throws if one is missing. */
export function withoutMethods(code: string, names: readonly string[]): string {
  return names.reduce((before, name) => {
    const method = new RegExp(`\\n    async ${name}\\([^\\n]*\\) \\{\\n[^]*?\\n    \\}(?=\\n)`);
    if (!method.test(before)) throw new Error(`auth-js has no method ${name}`);
    return before.replace(method, `\n    async ${name}() {}`);
  }, code);
}

export function unusedLibraryCode(): Plugin {
  return {
    name: 'unused-library-code',
    apply: 'build',
    enforce: 'pre',
    load: {
      filter: {
        id: /(@supabase\/auth-js\/dist\/module\/.*(GoTrueAdminApi|webauthn\.errors|polyfills)|@tanstack\/query-core\/build\/modern\/infiniteQueryBehavior)\.js$/,
      },
      handler: (id) => REPLACEMENTS[basename(id, '.js')],
    },
    transform: {
      filter: { id: /@supabase\/auth-js\/dist\/module\/(GoTrueClient|lib\/webauthn)\.js$/ },
      handler: (code, id) => ({
        code: withoutMethods(
          code.replace(DEBUG_CALLS, ';'),
          id.endsWith('GoTrueClient.js') ? UNUSED_CLIENT_METHODS : UNUSED_SECURITY_KEY_METHODS,
        ),
        map: null,
      }),
    },
  };
}
