import type { Database, Identity, AsService } from '../database/database.ts';

/** Asks the database, so there is one rule and one clock. */
export async function isCallerPremium(database: Database, identity: Identity): Promise<boolean> {
  const { rows } = await database
    .asUser(identity)
    .statement<{ premium: boolean }>('select public.is_premium() as premium', []);
  return rows[0]!.premium;
}

// Records a use of the plan: the refund rule counts them (docs/specification/plans-and-money.md 7).

/**
 * No-op if the account is gone: the table has no foreign key, so a late row would name a deleted user. The lock waits
 * for a concurrent deletion of the account.
 */
const INSERT_PLAN_USE = `
  insert into public.plan_uses (user_id, kind)
  select id, $2 from public.profiles where id = $1::uuid
     and ($3::int = 0
          or not exists (select from public.plan_uses
                          where user_id = $1::uuid and kind = $2 and used_at > now() - $3 * interval '1 second'))
     for key share`;

/** @param minIntervalSeconds no-op if the user's last use of this kind is younger; 0 records every use */
export async function recordPlanUse(
  service: AsService,
  userId: string,
  kind: 'analysis' | 'export',
  minIntervalSeconds = 0,
): Promise<void> {
  await service.statement(INSERT_PLAN_USE, [userId, kind, minIntervalSeconds]);
}
