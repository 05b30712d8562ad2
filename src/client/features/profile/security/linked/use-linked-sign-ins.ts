/** The ways to sign in that belong to the account, for the summary of the section and for its panel. */
import type { UserIdentity } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useUser } from '#client/lib/session/session.ts';
import { identityLabel } from './identity-label.ts';

type LinkedSignIns = {
  identities: readonly UserIdentity[];
  labelOf: (identity: UserIdentity) => string;
  /** False for the last way to sign in: the server refuses to remove it. */
  canRemove: boolean;
  /** The providers that can still be linked. */
  unlinked: ClientConfig['signIn']['providers'];
};

export function useLinkedSignIns(): LinkedSignIns {
  const { providers, linking } = useClientConfig().signIn;
  const { identities = [] } = useUser();
  return {
    identities,
    labelOf: ({ provider }) => identityLabel(provider, providers),
    canRemove: linking && identities.length > 1,
    unlinked: linking ? providers.filter(({ name }) => !identities.some(({ provider }) => provider === name)) : [],
  };
}
