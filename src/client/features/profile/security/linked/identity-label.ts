/** Names an identity of the account for its owner. */
import type { ClientConfig } from '#domain/client-config.ts';

const LABELS: Readonly<Record<string, string>> = { email: 'Email', phone: 'Phone', web3: 'Wallet' };

/** `provider` is the name of the wire, such as `google`, or `sso:` with an id. */
export const identityLabel = (provider: string, providers: ClientConfig['signIn']['providers']): string =>
  LABELS[provider] ??
  providers.find(({ name }) => name === provider)?.label ??
  (provider.startsWith('sso:') ? 'Single sign-on' : provider);
