import type { Database, Identity } from '../database/database.ts';

/** Asks the database, so there is one rule and one clock. */
export async function isCallerPremium(database: Database, identity: Identity): Promise<boolean> {
  const { rows } = await database
    .asUser(identity)
    .statement<{ premium: boolean }>('select public.is_premium() as premium', []);
  return rows[0]?.premium === true;
}
