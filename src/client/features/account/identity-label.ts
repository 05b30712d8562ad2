/** Names an identity of the account for its owner. */
import type { UserIdentity } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';

const LABELS: Readonly<Record<string, string>> = { email: 'Email', phone: 'Phone', web3: 'Wallet' };

/** `provider` is the provider's name in the API, such as `google`, or `sso:` with an id. */
export const identityLabel = (provider: string, providers: ClientConfig['signIn']['providers']): string =>
  LABELS[provider] ??
  providers.find(({ name }) => name === provider)?.label ??
  (provider.startsWith('sso:') ? 'Single sign-on' : provider);

/** Tells two identities of one provider apart: the address, the number or the wallet. Empty without one. */
export function identityDetail({ id, provider, identity_data: data }: UserIdentity): string {
  const textOf = (field: string): string => (typeof data?.[field] === 'string' ? data[field] : '');
  if (provider === 'phone') return `+${textOf('phone')}`;
  // `web3:ethereum:0x...`
  if (provider === 'web3') return id.split(':').at(-1) ?? '';
  return textOf('email');
}
