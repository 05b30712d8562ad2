/**
 * The sign-in method that was used last in this browser, so that the next sign-in offers it first. The stored text is no
 * secret: it names no account.
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
