/** The ways to sign in that belong to the account, for the summary of the section and for its panel. */
import type { UserIdentity } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useAccountFacts } from '#client/lib/api/use-account-facts.ts';
import { useUser } from '#client/lib/session/session.ts';
import { identityLabel } from './identity-label.ts';

type LinkedSignIns = {
  identities: readonly UserIdentity[];
  labelOf: (identity: UserIdentity) => string;
  /** False for the last way to sign in: the server refuses to remove it. */
  canRemove: boolean;
  /** True if a password, which is no identity, signs in as well. */
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
