/**
 * Records expired plans. Access does not depend on that record: every policy checks the date itself, so a plan ends on
 * its day even if this job has not run.
 */
import { earliestToday } from '#domain/day/day.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { changePlanInTransaction } from './change-plan.ts';

/** Returns the number of expired plans. */
export async function expirePlans(database: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  const today = earliestToday(clock.now());
  const ended = await database
    .asService('expire plans')
    .run(
      queryBuilder
        .selectFrom('profiles')
        .select('id')
        .where('subscription_plan', '=', 'premium')
        .where('access_valid_until', '<', today),
    );
  let expired = 0;
  for (const { id: userId } of ended) {
    if (signal?.aborted) break;
    expired += await database.transactAsService('expiry', async (transaction) => {
      // Re-check under the row lock: the user may have renewed meanwhile.
      const [still] = await transaction.run(
        queryBuilder
          .selectFrom('profiles')
          .select('id')
          .where('id', '=', userId)
          .where('subscription_plan', '=', 'premium')
          .where('access_valid_until', '<', today)
          .forUpdate(),
      );
      if (!still) return 0;
      await changePlanInTransaction(transaction, { userId, plan: 'free', accessValidUntil: null, reason: 'expiry' });
      return 1;
    });
  }
  return expired;
}
