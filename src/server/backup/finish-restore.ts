/**
 * Finishes a restore that was killed around its commit. With old rows beside a new key, or new rows beside an old one,
 * the server would start without an error, but everybody would be signed out and no second factor could be read.
 */
import pg, { type Client } from 'pg';
import type { Database } from '../database/database.ts';
import { withMigrationsLocked } from '../database/migrations/migrate.ts';
import type { Logger } from '../log.ts';
import { listStagedFiles, placeStagedFile, removeStagedFile, type KeyConfig } from './key-files.ts';

/** Stores the id as the comment of a schema: it commits with the restored rows, and unlike a table it enters no backup. */
export async function recordRestore(owner: Client, restoreId: string): Promise<void> {
  await owner.query(`comment on schema migrations is ${pg.escapeLiteral(restoreId)}`);
}

const LAST_RESTORE = "select obj_description('migrations'::regnamespace, 'pg_namespace') as id";

type Deps = { config: KeyConfig; database: Pick<Database, 'asOwner'>; log: Pick<Logger, 'warn'> };

/** Puts the staged key files in place if their restore was committed, and removes the others. */
export async function finishRestore({ config, database, log }: Deps): Promise<void> {
  if ((await listStagedFiles(config)).length === 0) return;
  await database.asOwner('finish a restore', (owner) =>
    // Until its session ends, a killed restore holds the lock and may still be committed.
    withMigrationsLocked(owner, async () => {
      const { rows } = await owner.query<{ id: string | null }>(LAST_RESTORE);
      for (const staged of await listStagedFiles(config)) {
        const { file, restoreId } = staged;
        if (restoreId === rows[0]?.id) {
          await placeStagedFile(staged);
          log.warn({ file }, 'finished an interrupted restore: the key file is that of the backup');
        } else {
          await removeStagedFile(staged);
          log.warn({ file }, 'an interrupted restore has changed nothing: removed its copy of the key');
        }
      }
    }),
  );
}
