/** Recognises users of single sign-on, whose company manages how they sign in (docs/specification/wire.md 29). */
import type { User } from '@supabase/auth-js';

/** The name of the company's identity provider in the API: `sso:` with an id. */
export const ssoProviderOf = ({ identities = [] }: User): string | undefined =>
  identities.find(({ provider }) => provider.startsWith('sso:'))?.provider;

export const isSsoUser = (user: User): boolean => ssoProviderOf(user) !== undefined;
