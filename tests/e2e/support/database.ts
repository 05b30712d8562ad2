/** Changes rows in the database of the worker's server, for states that only passing time would cause. */
import { joinDatabase } from './accounts.ts';
import { e2eDataDir } from './data-dir.ts';

/** Ages every session of an account by this many hours. */
export async function ageSessions(baseURL: string, email: string, hours: number): Promise<void> {
  const database = await joinDatabase(e2eDataDir(new URL(baseURL).port));
  try {
    const { rowCount } = await database.asService('make sessions older').statement(
      `update auth.sessions set created_at = created_at - make_interval(hours => $2)
         where user_id = (select id from auth.users where email = $1)`,
      [email, hours],
    );
    if (rowCount === 0) throw new Error(`no session of ${email}`);
  } finally {
    await database.close();
  }
}
