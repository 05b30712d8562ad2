/** /admin/users: lists, creates, reads, changes and deletes accounts (docs/specification/api.md 33). */
import { randomUUID } from 'node:crypto';
import { accountQuery, toAccount } from '../accounts/accounts.ts';
import { userJson } from '../accounts/user-json.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { NIL_UUID, UUID } from '../keys/access-tokens.ts';
import { deleteAccount } from '../own-account/delete-account.ts';
import { accountGuessKey } from '../sessions/device-cookie.ts';
import {
  readPage,
  readQueryText,
  setPageHeaders,
  changeUser,
  createUser,
  listAccounts,
  softDeleteUser,
  toTakenError,
  type Author,
} from './user-store.ts';
import { readUserAttributes } from './user-attributes.ts';

const authorOf = ({ clock }: AuthDeps, device: Device): Author => ({ actor: 'service', device, now: clock.now() });

export const listUsers: Endpoint = async (context, deps) => {
  const page = readPage(context);
  const filter = readQueryText(context, 'filter');
  const isOldestFirst = readsOldestFirst(context.req.queries('sort') ?? []);
  const list = { page, filter, isOldestFirst };
  const { accounts, total } = await listAccounts(deps.database.asService('list users'), list);
  setPageHeaders(context, page, total);
  return context.json({ users: accounts.map(userJson), aud: 'authenticated' });
};

/**
 * Reads `sort`, such as `created_at asc`. The first of several values counts. Throws an AuthError for another field or
 * direction.
 */
function readsOldestFirst(sorts: readonly string[]): boolean {
  const directions = sorts
    .filter((sort) => sort !== '')
    .map((sort) => {
      const [field = '', ...rest] = sort.split(' ');
      const direction = rest.join(' ');
      if (field !== 'created_at') throw new AuthError('bad_sort', `field for sort '${field.slice(0, 100)}'`);
      if (!/^(?:asc|desc)?$/i.test(direction)) {
        const problem = `direction for sort '${direction.slice(0, 100)}', only 'asc' and 'desc' allowed`;
        throw new AuthError('bad_sort', problem);
      }
      return direction.toLowerCase();
    });
  return directions[0] === 'asc';
}

export const createUserByAdmin: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const id = readId(body);
  const attributes = await readUserAttributes(deps, body);
  if (attributes.email === null && attributes.phone === null)
    throw invalidRequest('Cannot create a user without either an email or phone');
  const author = authorOf(deps, device);
  try {
    const account = await deps.database.transactAsService('create a user', (transaction) =>
      createUser(transaction, { id, attributes, author }),
    );
    return context.json(userJson(account));
  } catch (error) {
    throw toTakenError(error);
  }
};

function readId(body: Body): string {
  const id = body.text('id');
  if (id === '') return randomUUID();
  if (!UUID.test(id)) throw invalidRequest('ID must conform to the uuid v4 format');
  if (id === NIL_UUID) throw invalidRequest('ID cannot be a nil uuid');
  return id;
}

type Given = { ids: { userId: string }; device: Device };

export const showUserToAdmin: Endpoint<Given> = async (context, deps, { ids: { userId: id } }) => {
  const [row] = await deps.database.asService('read a user').run(accountQuery(id));
  if (!row) throw new AuthError('no_such_user');
  return context.json(userJson(toAccount(row)));
};

export const changeUserByAdmin: Endpoint<Given & { body: Body }> = async (context, deps, { ids, device, body }) => {
  const { userId } = ids;
  const attributes = await readUserAttributes(deps, body);
  const author = authorOf(deps, device);
  try {
    const changed = await deps.database.transactAsService('change a user', (transaction) =>
      changeUser(transaction, { userId, attributes, author }),
    );
    if (!changed) throw new AuthError('no_such_user');
    deps.accessTokens.invalidateSessions(changed.endedSessions);
    return context.json(userJson(changed.account));
  } catch (error) {
    throw toTakenError(error);
  }
};

/** Without `should_soft_delete` the account and its journal are deleted at once, without an hour to undo it. */
export const deleteUserByAdmin: Endpoint<Given & { body: Body }> = async (context, deps, { ids, device, body }) => {
  const { userId } = ids;
  const endedSessions = body.flag('should_soft_delete', false)
    ? await deps.database.transactAsService('soft-delete a user', (transaction) =>
        softDeleteUser(transaction, userId, authorOf(deps, device)),
      )
    : await deleteForGood(deps, userId);
  if (!endedSessions) throw new AuthError('no_such_user');
  deps.accessTokens.invalidateSessions(endedSessions);
  return context.json({});
};

async function deleteForGood({ database, clock, secrets }: AuthDeps, userId: string): Promise<string[] | null> {
  const findRateLimitKeys = (email: string) => [accountGuessKey(secrets.devices, email)];
  const deleted = await deleteAccount(database, { userId, actor: 'service', now: clock.now(), findRateLimitKeys });
  return deleted && deleted.endedSessions;
}
