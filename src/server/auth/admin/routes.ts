/** The admin routes (docs/specification/wire.md 33). Few installations use them, so their modules load at the first use. */
import type { Endpoint } from '../auth-deps.ts';
import { lazyEndpoint } from '../lazy-endpoint.ts';

type UserEndpoint = 'listUsers' | 'createUserByAdmin' | 'showUserToAdmin' | 'changeUserByAdmin' | 'deleteUserByAdmin';

const users = (name: UserEndpoint): Endpoint => lazyEndpoint(async () => (await import('./users.ts'))[name]);

export const ADMIN_ENDPOINTS: readonly (readonly ['GET' | 'POST' | 'PUT' | 'DELETE', string, Endpoint])[] = [
  ['GET', '/admin/users', users('listUsers')],
  ['POST', '/admin/users', users('createUserByAdmin')],
  ['GET', '/admin/users/:userId', users('showUserToAdmin')],
  ['PUT', '/admin/users/:userId', users('changeUserByAdmin')],
  ['DELETE', '/admin/users/:userId', users('deleteUserByAdmin')],
  ['GET', '/admin/audit', lazyEndpoint(async () => (await import('./audit.ts')).listAuditLog)],
];
