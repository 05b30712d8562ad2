/** Requests of a user about the own account, and queries of the database for it. */
import { createLog } from '#server/log.ts';
import { deleteAbandonedAnonymousUsers, deleteDueAccounts } from '#server/auth/own-account/delete-account.ts';
import { PASSWORD, type AuthWorld } from '../auth/fixture.ts';

export const HOUR_MS = 3_600_000;

export type SignedUpUser = Awaited<ReturnType<AuthWorld['signUpUser']>>;

export function createAccountClient(world: AuthWorld) {
  const sentByJob: string[] = [];
  const rows = async <T>(text: string, values: unknown[]): Promise<T[]> =>
    (await world.admin.query(text, values)).rows as T[];
  const jobDeps = () => ({
    ...{ database: world.database, clock: world.clock, log: createLog('error') },
    mailer: { send: (mail: { to: string }) => void sentByJob.push(mail.to) },
    findRateLimitKeys: () => [],
  });

  return {
    /** The addresses to which `deleteDue` has sent mails. */
    sentByJob,
    rows,
    signIn: (email: string, headers = {}) =>
      world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD }, headers }),
    remove: (token: string, body: object = { password: PASSWORD }) =>
      world.request('DELETE', '/account', { token, body }),
    undo: (body: object) => world.request('POST', '/account/undo-deletion', { body }),
    status: async (token: string): Promise<number> => (await world.request('GET', '/user', { token })).status,
    readEntries: async (token: string): Promise<number> =>
      (await fetch(`${world.url}/rest/v1/entries?select=date`, { headers: { Authorization: `Bearer ${token}` } }))
        .status,
    eventsOf: async (id: string): Promise<string[]> =>
      (await rows<{ event: string }>('select event from auth.audit_log where user_id = $1 order by id', [id])).map(
        ({ event }) => event,
      ),
    dueAtOf: async (id: string): Promise<Date | null> =>
      (await rows<{ at: Date | null }>('select deletion_due_at as at from auth.users where id = $1', [id]))[0]!.at,
    deleteDue: (): Promise<number> => deleteDueAccounts(jobDeps(), new AbortController().signal),
    deleteAbandoned: (): Promise<number> => deleteAbandonedAnonymousUsers(jobDeps(), new AbortController().signal),
  };
}
