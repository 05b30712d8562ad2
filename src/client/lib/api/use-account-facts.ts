/** Facts about the account that the `User` of auth-js leaves out. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useOwnAccount } from './own-account.ts';
import { useUser } from '../session/session.ts';

export function useAccountFacts() {
  const { id, updated_at: changedAt } = useUser();
  const account = useOwnAccount();
  return useQuery({
    // A change of the address or the password changes the user's `updated_at`.
    queryKey: ['account-facts', id, changedAt],
    queryFn: ({ signal }) => account.readFacts(signal),
    placeholderData: keepPreviousData,
    // Always stale: a mailed link that was opened in another tab may have confirmed an address.
    staleTime: 0,
  });
}
