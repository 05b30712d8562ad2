/** Lists the ways to sign in to an account, the one to offer first at the front. */
import type { User } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';
import type { Way } from '#client/lib/session/last-way.ts';
import { isSsoUser } from '#client/lib/session/session.ts';

type Known = {
  signIn: ClientConfig['signIn'];
  lastWay: string | null;
  /** Whether the account has a passkey, as far as this browser knows. */
  hasPasskeys: boolean;
};

/**
 * `lastWay`, the way that signed in last in this browser, comes first. If it is not one of the account's ways, the way
 * that the account began with comes first. Empty for an anonymous user, who never added an address, a number or a
 * provider. Passkeys are offered to an account without any other way too, even if the page knows of none.
 */
export function accountWays(user: User, { signIn, lastWay, hasPasskeys }: Known): readonly Way[] {
  // The server refuses a user of single sign-on any other way to sign in, also a mailed code.
  if (isSsoUser(user)) return ['sso'];
  if (user.is_anonymous) return [];
  const { provider: began = 'email', providers: linked = [] } = user.app_metadata;
  const known = signIn.providers.filter(({ name }) => linked.includes(name));
  const hasAddress = Boolean(user.email);
  const hasWallets = signIn.wallets.ethereum || signIn.wallets.solana;
  const ways = [
    // A user who began with a provider may have set a password later.
    ...(hasAddress ? (['password'] as const) : []),
    ...(signIn.passkeys && hasPasskeys ? (['passkey'] as const) : []),
    ...(signIn.mailCodes && hasAddress ? (['mailCode'] as const) : []),
    ...(signIn.phone && user.phone ? (['phoneCode'] as const) : []),
    ...(hasWallets && linked.includes('web3') ? (['wallet'] as const) : []),
    ...known.map(({ name }) => `provider:${name}` as const),
  ];
  if (ways.length === 0 && signIn.passkeys) return ['passkey'];
  const first =
    ways.find((way) => way === lastWay) ?? ways.find((way) => way === (BEGINNINGS[began] ?? `provider:${began}`));
  return first === undefined ? ways : [first, ...ways.filter((way) => way !== first)];
}

const BEGINNINGS: Readonly<Record<string, Way>> = { email: 'password', phone: 'phoneCode', web3: 'wallet' };
