/**
 * Whether a user's account has a passkey, as far as this browser has seen: in the list on the profile page, or in a
 * sign-in. A page without a session cannot ask the server. At a sign-out, `wipeUserData` removes every key with the
 * user's id.
 */
const keyOf = (userId: string): string => `hustle-forge:passkeys:${userId}`;

export function rememberPasskeys(userId: string, hasPasskeys: boolean): void {
  try {
    if (hasPasskeys) localStorage.setItem(keyOf(userId), '1');
    else localStorage.removeItem(keyOf(userId));
  } catch {
    // Best effort: the sign-in overlay then offers the other ways.
  }
}

export const hasKnownPasskeys = (userId: string): boolean => localStorage.getItem(keyOf(userId)) !== null;
