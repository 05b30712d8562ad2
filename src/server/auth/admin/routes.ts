/**
 * The admin routes (docs/specification/wire.md 33). Few installations use them, so their modules load at the first use.
 */
import type { Endpoint, Route } from '../http/auth-deps.ts';
import { lazyEndpoint } from '../http/lazy-endpoint.ts';

type UserEndpoint = 'listUsers' | 'createUserByAdmin' | 'showUserToAdmin' | 'changeUserByAdmin' | 'deleteUserByAdmin';

const users = (name: UserEndpoint): Endpoint => lazyEndpoint(async () => (await import('./users.ts'))[name]);

const links = (name: 'generateLink' | 'invite'): Endpoint =>
  lazyEndpoint(async () => (await import('./generate-link.ts'))[name]);

const userFactors = (name: keyof typeof import('./user-factors.ts')): Endpoint =>
  lazyEndpoint(async () => (await import('./user-factors.ts'))[name]);

const ssoProviders = (name: keyof typeof import('./sso-providers.ts')): Endpoint =>
  lazyEndpoint(async () => (await import('./sso-providers.ts'))[name]);

export const ADMIN_ENDPOINTS: readonly Route[] = [
  ['GET', '/admin/users', users('listUsers')],
  ['POST', '/admin/users', users('createUserByAdmin')],
  ['GET', '/admin/users/:userId', users('showUserToAdmin')],
  ['PUT', '/admin/users/:userId', users('changeUserByAdmin')],
  ['DELETE', '/admin/users/:userId', users('deleteUserByAdmin')],
  ['GET', '/admin/users/:userId/factors', userFactors('listUserFactors')],
  ['PUT', '/admin/users/:userId/factors/:factorId', userFactors('changeUserFactor')],
  ['DELETE', '/admin/users/:userId/factors/:factorId', userFactors('deleteUserFactor')],
  ['GET', '/admin/users/:userId/passkeys', userFactors('listUserPasskeys')],
  ['DELETE', '/admin/users/:userId/passkeys/:passkeyId', userFactors('deleteUserPasskey')],
  ['POST', '/admin/generate_link', links('generateLink')],
  ['POST', '/invite', links('invite')],
  ['GET', '/admin/audit', lazyEndpoint(async () => (await import('./audit.ts')).listAuditLog)],
  ['GET', '/admin/connection', lazyEndpoint(async () => (await import('./connection.ts')).showConnection)],
  ['GET', '/admin/sso/providers', ssoProviders('listProviders')],
  ['POST', '/admin/sso/providers', ssoProviders('createProvider')],
  ['GET', '/admin/sso/providers/:providerId', ssoProviders('showProvider')],
  ['PUT', '/admin/sso/providers/:providerId', ssoProviders('changeProvider')],
  ['DELETE', '/admin/sso/providers/:providerId', ssoProviders('deleteProvider')],
];
