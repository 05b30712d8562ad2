/** Reaches behind the stories' server into its database, for what only time would bring about. */
import { openDatabase } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';
import { e2eDataDir } from './data-dir.ts';

/** Makes every session of an account as old as if its owner had signed in this many hours ago. */
export async function ageSessions(baseURL: string, email: string, hours: number): Promise<void> {
  const dataDir = e2eDataDir(new URL(baseURL).port);
  const database = await openDatabase({
    config: { dataDir, databaseUrl: null },
    log: createLog('silent'),
    whenRunning: 'join',
  });
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
