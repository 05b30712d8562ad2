/** Whether a caller is a Closer at this moment. The database is asked, so that there is one rule and one clock. */
import type { Database, Identity } from '../database/database.ts';

export async function isCallerPremium(database: Database, identity: Identity): Promise<boolean> {
  const { rows } = await database
    .asUser(identity)
    .statement<{ premium: boolean }>('select public.is_premium() as premium', []);
  return rows[0]?.premium === true;
}
