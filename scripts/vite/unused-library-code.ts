/**
 * Leaves out library code that the app does not need, but that the bundler keeps because methods of a class refer to it.
 * In auth-js: the administrator's API, and the texts that explain errors of security keys, because the app reads only the
 * names of these errors, debug messages, a polyfill, and methods that nothing calls. In query-core: infinite queries.
 */
import { basename } from 'node:path';
import type { Plugin } from 'vite';

/** In auth-js only `signOut` of `GoTrueClient` calls this API, with the user's own token, so this stub has that method. */
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
  // Every browser that runs the build has `globalThis`.
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
/** The app enrols a security key as any other factor, and then authenticates with it. */
const UNUSED_SECURITY_KEY_METHODS = ['_register'];

/** Empties the methods: the constructor binds some of them. */
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
