/**
 * The way that signed in last in this browser, so that the next sign-in offers it first. It names no account and opens
 * none.
 */
import { LAST_WAY_KEY } from './storage-keys.ts';

/** `provider:` with the provider's name on the wire, such as `provider:google`. */
export type Way = 'password' | 'mailCode' | 'phoneCode' | 'passkey' | 'wallet' | 'sso' | `provider:${string}`;

export const rememberWay = (way: Way): void => localStorage.setItem(LAST_WAY_KEY, way);

/** Another release, or another program of this origin, may have stored any text. */
export const readLastWay = (): string | null => localStorage.getItem(LAST_WAY_KEY);
