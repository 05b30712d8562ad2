/** The pages of the client (docs/specification/screens.md 1), for the server, the router and the tests. */
import type { Day } from './day/day.ts';

export const ROUTES = {
  landing: { path: '/', access: 'guests' },
  login: { path: '/login', access: 'guests' },
  signup: { path: '/signup', access: 'guests' },
  forgotPassword: { path: '/forgot-password', access: 'guests' },
  resetPassword: { path: '/reset-password', access: 'public' },
  terms: { path: '/terms-and-conditions', access: 'public' },
  privacy: { path: '/privacy-policy', access: 'public' },
  journal: { path: '/journal', access: 'protected' },
  reviews: { path: '/reviews', access: 'protected' },
  /** `yearPath` fills in the year; `routePath` turns such an address back into this path. */
  year: { path: '/year/:year', access: 'protected' },
  /** `?document=<id>` opens a document. */
  wins: { path: '/wins', access: 'protected' },
  settings: { path: '/settings', access: 'protected' },
  profile: { path: '/profile', access: 'protected' },
  /** `?user_code=<code>` names a program, or `?slack=<code>` a Slack user, that asks to be connected. */
  connect: { path: '/connect', access: 'protected' },
  /** `?payment=<id>` selects the payment. */
  receipt: { path: '/receipt', access: 'protected' },
} as const satisfies Record<string, { path: `/${string}`; access: 'guests' | 'public' | 'protected' }>;

export type RouteName = keyof typeof ROUTES;

/** The path in `ROUTES` of a page's address. */
export const routePath = (pathname: string): string => (/^\/year\/[^/]+$/.test(pathname) ? ROUTES.year.path : pathname);

export const yearPath = (year: string | number): string => `/year/${year}`;

/** The journal's page of a day. */
export const dayPath = (day: Day): string => `${ROUTES.journal.path}?date=${day}`;
