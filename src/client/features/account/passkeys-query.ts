/** The user's passkeys, oldest first. */
import { queryOptions } from '@tanstack/react-query';
import type { PasskeyListItem } from '@supabase/auth-js';
import { rememberPasskeys } from '#client/lib/session/known-passkeys.ts';
import type { Auth } from '#client/lib/api/supabase.ts';

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
