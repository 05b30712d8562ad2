/** Personal access tokens (docs/specification/capture.md 2): what client, server and programs agree on. */

/** `append` adds items to days; `read` reads days and finds words. */
export const TOKEN_SCOPES = ['append', 'read'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** The lifetimes that a user can choose. */
export const TOKEN_DAYS = [30, 90, 365] as const;
export type TokenDays = (typeof TOKEN_DAYS)[number];

export const MAX_TOKENS = 20;
export const TOKEN_NAME_MAX_LENGTH = 60;

/** Begins every token, so that people and secret scanners recognise one: `hforge_[A-Za-z0-9_-]{64}`. */
export const TOKEN_PREFIX = 'hforge_';

export type ListedToken = {
  id: string;
  name: string;
  scopes: TokenScope[];
  created_at: string;
  expires_at: string;
  /** Recorded at most once an hour; null before the first use. */
  last_used_at: string | null;
};

export type ListedSlackLink = { team: string; user: string; name: string; created_at: string };

/** The answer of `GET /auth/v1/tokens`. */
export type TokenList = { tokens: ListedToken[]; slack_links: ListedSlackLink[] };

/** The answer of `POST /auth/v1/tokens`; `token` is shown once. */
export type CreatedToken = ListedToken & { token: string };

/** The alphabet of a code that a user compares or types (RFC 8628 6.1). Without vowels no code is a word. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

/** `wdjb mjht` and `WDJB-MJHT` are the same code; null for anything else. */
export function parseUserCode(text: string): string | null {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '');
  return new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_LENGTH}}$`).test(code) ? code : null;
}

export const formatUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The request that the page /connect shows before the user answers. */
export type ConnectRequest = {
  kind: 'device' | 'slack';
  /** The name that the program gave itself. */
  name: string;
  scopes: TokenScope[];
  /** To compare with the program's screen; null for Slack. */
  user_code: string | null;
};

/** The text that the page /connect shows for each scope. */
export const SCOPE_TEXTS: Readonly<Record<TokenScope, string>> = {
  append: 'Add items to your days',
  read: 'Read your days and find words in them',
};
