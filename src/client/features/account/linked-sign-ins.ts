/** The account's ways to sign in: linked identities, the phone number and passkeys. */
import type { UserIdentity, PasskeyListItem } from '@supabase/auth-js';
import { queryOptions } from '@tanstack/react-query';
import type { ClientConfig } from '#domain/client-config.ts';
import { useClientConfig, type Auth } from '#client/lib/api/supabase.ts';
import { useAccountFacts } from '#client/lib/api/own-account.ts';
import { useUser, type User } from '#client/lib/session/session.ts';
import { rememberPasskeys } from '#client/lib/session/last-way.ts';

type LinkedSignIns = {
  identities: readonly UserIdentity[];
  labelOf: (identity: UserIdentity) => string;
  /** False for the only identity without a password besides, which the server keeps, and where linking is off. */
  canRemove: boolean;
  /** True if a password, which is not an identity, signs in as well. */
  hasPasswordBesides: boolean;
  /** The providers that can still be linked. */
  unlinked: ClientConfig['signIn']['providers'];
};

export function useLinkedSignIns(): LinkedSignIns {
  const { providers, linking } = useClientConfig().signIn;
  const { identities = [], email_confirmed_at: confirmedAt } = useUser();
  const { data: facts } = useAccountFacts();
  const hasIdentity = (name: string): boolean => identities.some(({ provider }) => provider === name);
  // A user who began with a provider and set a password later has a second way to sign in, but one identity.
  const hasPasswordBesides =
    facts?.has_password === true && Boolean(confirmedAt) && !hasIdentity('email') && !hasIdentity('phone');
  return {
    identities,
    labelOf: ({ provider }) => identityLabel(provider, providers),
    canRemove: linking && (identities.length > 1 || hasPasswordBesides),
    hasPasswordBesides,
    unlinked: linking ? providers.filter(({ name }) => !hasIdentity(name)) : [],
  };
}

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

/** The number that texted codes sign in with, such as `+15550123456`; null without one. */
export const confirmedPhone = ({ phone, phone_confirmed_at: confirmedAt }: User): string | null =>
  phone && confirmedAt ? `+${phone}` : null;

/** The user's passkeys, oldest first. */
export const passkeysQuery = (auth: Auth, userId: string) =>
  queryOptions({
    queryKey: ['passkeys', userId],
    queryFn: async (): Promise<PasskeyListItem[]> => {
      const { data, error } = await auth.passkey.list();
      if (error) throw error;
      rememberPasskeys(userId, data.length > 0);
      return data;
    },
  });
