import type { OAuthProvider } from '#server/config/auth-settings.ts';
import { createGitHubClient } from './github-client.ts';
import { createOidcClient } from './oidc-client.ts';
import type { ProviderClient } from './provider-client.ts';

export const connectProvider = (provider: OAuthProvider): ProviderClient =>
  provider.kind === 'github' ? createGitHubClient(provider) : createOidcClient(provider);
