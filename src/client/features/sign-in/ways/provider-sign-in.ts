/** Signs in at a provider, in this page or in another tab. The return is handled by `link/provider-return.tsx`. */
import type { ClientConfig } from '#domain/client-config.ts';
import type { ProviderError } from '#domain/messages.ts';
import { createPkceAuth, flowReturnUrl, RETURN_PATH_KEY } from '#client/lib/api/pkce-auth.ts';

/**
 * `returnPath`: the page that redirected to the sign-in, with its query. Never resolves: the browser leaves the page.
 */
export async function signInAtProvider(config: ClientConfig, name: string, returnPath?: string): Promise<never> {
  storeReturnPath(returnPath);
  await createPkceAuth(config).signInWithOAuth({
    provider: name as 'google',
    options: { redirectTo: flowReturnUrl('signIn', name) },
  });
  return new Promise<never>(() => undefined);
}

/** Resolves only with an error; otherwise the browser leaves the page. */
export async function signInWithSso(
  config: ClientConfig,
  authFetch: typeof fetch,
  domain: string,
  returnPath?: string,
): Promise<ProviderError | null> {
  storeReturnPath(returnPath);
  const { error } = await createPkceAuth(config, null, authFetch).signInWithSSO({
    domain,
    options: { redirectTo: flowReturnUrl('signIn', '') },
  });
  return error ?? new Promise<never>(() => undefined);
}

/**
 * Opens the provider in another tab, so that the page and its unsaved text stay. Call it from a click.
 * @param name the provider's name in the API: `google`, or `sso:` with the id of a company's identity provider
 */
export async function signInInOtherTab(
  config: ClientConfig,
  authFetch: typeof fetch,
  name: string,
): Promise<'opened' | 'blocked' | 'failed'> {
  // Browsers block a tab that opens after an await.
  const tab = open('about:blank', '_blank');
  if (!tab) return 'blocked';
  const auth = createPkceAuth(config, null, authFetch);
  const isSso = name.startsWith('sso:');
  const options = { redirectTo: flowReturnUrl('tab', isSso ? '' : name), skipBrowserRedirect: true };
  const { data } = isSso
    ? await auth.signInWithSSO({ providerId: name.slice('sso:'.length), options })
    : await auth.signInWithOAuth({ provider: name as 'google', options });
  if (data?.url) {
    tab.location.href = data.url;
    return 'opened';
  }
  tab.close();
  return 'failed';
}

function storeReturnPath(path: string | undefined): void {
  if (path === undefined) sessionStorage.removeItem(RETURN_PATH_KEY);
  else sessionStorage.setItem(RETURN_PATH_KEY, path);
}
