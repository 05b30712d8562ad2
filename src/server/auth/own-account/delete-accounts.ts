/** The jobs that delete accounts: those whose deletion is due, and unused accounts of anonymous users. */
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Logger } from '#server/log.ts';
import { accountDeletedMail } from '#server/mail/account-emails.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import { abandonedUsers, deleteAccount } from './delete-account.ts';

/** Anonymous accounts are deleted after this time without use. Only a session in a browser opens such an account. */
const ANONYMOUS_USER_MS = 30 * 24 * 3_600_000;
const MAX_ACCOUNTS_PER_RUN = 200;

type Deps = {
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Pick<Mailer, 'send'>;
  /** See `deleteAccount`. */
  findRateLimitKeys: (addressOrPhone: string) => readonly string[];
};

/** Deletes the accounts whose deletion is due, such as an hour after their owner's request. Returns their number. */
export async function deleteDueAccounts(deps: Deps, signal: AbortSignal): Promise<number> {
  const due = queryBuilder
    .selectFrom('auth.users')
    .select('id')
    .where('deletion_due_at', '<=', deps.clock.now())
    .orderBy('deletion_due_at')
    .limit(MAX_ACCOUNTS_PER_RUN);
  const users = await deps.database.asService('find due accounts').run(due);
  return deleteAll(deps, users, { onlyIf: 'due', signal });
}

export async function deleteAbandonedAnonymousUsers(deps: Deps, signal: AbortSignal): Promise<number> {
  const before = new Date(deps.clock.now().getTime() - ANONYMOUS_USER_MS);
  const service = deps.database.asService('find anonymous users');
  const users = await service.run(abandonedUsers(before).limit(MAX_ACCOUNTS_PER_RUN));
  return deleteAll(deps, users, { onlyIf: { abandonedBefore: before }, signal });
}

type Options = { onlyIf: 'due' | { abandonedBefore: Date }; signal: AbortSignal };

/** Logs each account that cannot be deleted, continues with the others and then throws, so that the job runs again. */
async function deleteAll(
  { database, clock, log, mailer, findRateLimitKeys }: Deps,
  users: readonly { id: string }[],
  { onlyIf, signal }: Options,
): Promise<number> {
  const now = clock.now();
  let [deleted, failed] = [0, 0];
  for (const { id: userId } of users) {
    if (signal.aborted) break;
    try {
      const account = await deleteAccount(database, { userId, actor: 'job', now, onlyIf, findRateLimitKeys });
      if (account === null) continue;
      deleted += 1;
      if (account.email !== null) mailer.send(accountDeletedMail({ to: account.email }));
    } catch (error) {
      failed += 1;
      log.error({ err: error, userId }, 'an account cannot be deleted');
    }
  }
  if (failed > 0) throw new Error(`${failed} accounts cannot be deleted`);
  return deleted;
}
