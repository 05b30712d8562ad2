/** The endpoints of the signed-in user's own account. Their modules load at the first request. */
import type { Endpoint } from '../http/auth-deps.ts';
import { lazyEndpoint } from '../http/lazy-endpoint.ts';

const account = () => import('./account.ts');
const sessions = () => import('../sessions/own-sessions.ts');
const deletion = () => import('./request-deletion.ts');
const undoing = () => import('./request-deletion.ts');

export const OWN_ACCOUNT_ENDPOINTS: readonly (readonly ['GET' | 'POST' | 'DELETE', string, Endpoint])[] = [
  ['GET', '/sessions', lazyEndpoint(async () => (await sessions()).showSessions)],
  ['DELETE', '/sessions/:id', lazyEndpoint(async () => (await sessions()).endOwnSession)],
  ['GET', '/account', lazyEndpoint(async () => (await account()).showAccount)],
  ['DELETE', '/account/address-change', lazyEndpoint(async () => (await account()).endAddressChange)],
  ['DELETE', '/account', lazyEndpoint(async () => (await deletion()).requestDeletion)],
  ['GET', '/account/undo-deletion', lazyEndpoint(async () => (await undoing()).showUndoDeletion)],
  ['POST', '/account/undo-deletion', lazyEndpoint(async () => (await undoing()).undoDeletion)],
];
