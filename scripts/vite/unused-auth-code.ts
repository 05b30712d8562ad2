/**
 * Leaves out the administrator's API of auth-js, which the app never calls. A bundler cannot see that it is unused,
 * because methods of the client's one class refer to it.
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

export function unusedAuthCode(): Plugin {
  return {
    name: 'unused-auth-code',
    apply: 'build',
    enforce: 'pre',
    load: {
      filter: { id: /@supabase\/auth-js\/dist\/module\/.*GoTrueAdminApi\.js$/ },
      handler: () => ADMIN_API,
    },
  };
}
