/**
 * The sign-in method that was used last in this browser, so that the next sign-in offers it first. The stored text is
 * not a secret: it names no account.
 */
import { LAST_WAY_KEY } from './storage-keys.ts';

/** `provider:` with the provider's name in the API, such as `provider:google`. */
export type Way = 'password' | 'mailCode' | 'phoneCode' | 'passkey' | 'wallet' | 'sso' | `provider:${string}`;

/** Never throws: in a browser whose storage is full or blocked, the sign-in itself has succeeded. */
export function rememberWay(way: Way): void {
  try {
    localStorage.setItem(LAST_WAY_KEY, way);
  } catch {
    // Best effort: the next sign-in offers the previously stored method, or the password, first.
  }
}

/** Not a `Way`: another release, or another program on this origin, may have stored any text. */
export const readLastWay = (): string | null => localStorage.getItem(LAST_WAY_KEY);

const keyOf = (userId: string): string => `hustle-forge:passkeys:${userId}`;

/**
 * Whether a user's account has a passkey, as far as this browser has seen: in the list on the profile page, or in a
 * sign-in. A page without a session cannot ask the server. At a sign-out, `wipeUserData` removes every key with the
 * user's id.
 */
export function rememberPasskeys(userId: string, hasPasskeys: boolean): void {
  try {
    if (hasPasskeys) localStorage.setItem(keyOf(userId), '1');
    else localStorage.removeItem(keyOf(userId));
  } catch {
    // Best effort: the sign-in overlay then offers the other ways.
  }
}

export const hasKnownPasskeys = (userId: string): boolean => localStorage.getItem(keyOf(userId)) !== null;
