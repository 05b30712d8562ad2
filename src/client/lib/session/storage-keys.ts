/** The names under which this browser keeps things, in one place because the early script reads them as well. */
export const THEME_KEY = 'theme';
export const FONT_KEY = 'fontFamily';
/** The font of somebody whose plan has ended, for when it begins again. */
export const SUSPENDED_FONT_KEY = 'hustle-forge:resting-font';
/** Plain text: the line a visitor typed on the landing page, carried into the first log after sign-up. */
export const FIRST_LINE_KEY = 'hustle-forge:first-line';
/** The address that was typed on one account page, for the next; of this tab alone. */
export const TYPED_ADDRESS_KEY = 'hustle-forge:typed-address';
/** The id of the user who asked to sign out here, and when: tells a wish from an expiry, in every tab (session-provider). */
export const SIGNED_OUT_KEY = 'hustle-forge:signed-out';

/** Where supabase-js keeps the session, so that any Supabase client on this origin finds it (docs/specification/wire.md 18). */
export const sessionStorageKey = (apiUrl: string): string => `sb-${new URL(apiUrl).hostname.split('.')[0]}-auth-token`;
