/** Tells users of single sign-on, whose company manages how they sign in (docs/specification/wire.md 29). */
import type { User } from '@supabase/auth-js';

export const isSsoUser = ({ identities = [] }: User): boolean =>
  identities.some(({ provider }) => provider.startsWith('sso:'));
