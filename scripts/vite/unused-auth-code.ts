/**
 * Leaves out code of auth-js that the app never calls and that a bundler cannot see as unused, because methods of
 * its one class refer to it: the administrator's API, and messages for Ethereum wallets (wallet.ts has its own).
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

const REPLACEMENTS: Readonly<Record<string, string>> = {
  'GoTrueAdminApi.js': ADMIN_API,
  'web3/ethereum.js':
    'export const createSiweMessage = undefined, fromHex = undefined, getAddress = undefined, toHex = undefined;',
};

export function unusedAuthCode(): Plugin {
  return {
    name: 'unused-auth-code',
    apply: 'build',
    enforce: 'pre',
    load: {
      filter: { id: /@supabase\/auth-js\/dist\/module\/.*(GoTrueAdminApi|web3\/ethereum)\.js$/ },
      handler: (id) => Object.entries(REPLACEMENTS).find(([name]) => id.endsWith(name))![1],
    },
  };
}
