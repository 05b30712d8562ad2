/** The numbered SQL files of `database/migrations`. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const MIGRATIONS = new URL('../../../../database/migrations/', import.meta.url);

/** In application order: policies of `app` call functions of `auth`. */
const MIGRATION_SETS = ['auth', 'app'] as const;

export type Migration = { set: string; number: number; name: string; sql: string; checksum: string };

/** All migrations in order. @throws Error when a set's numbers are not 1, 2, 3, ... */
export async function readMigrations(folder: URL = MIGRATIONS): Promise<Migration[]> {
  const sets = await Promise.all(MIGRATION_SETS.map((set) => readSet(new URL(`${set}/`, folder), set)));
  return sets.flat();
}

async function readSet(folder: URL, set: string): Promise<Migration[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file, index) => {
      const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file);
      if (!match || Number(match[1]) !== index + 1) {
        throw new Error(
          `${fileURLToPath(new URL(file, folder))}: migrations are numbered 0001_name.sql, 0002_name.sql, ...`,
        );
      }
      // A Windows checkout may change line endings; the checksum must not depend on them.
      const sql = (await readFile(new URL(file, folder), 'utf8')).replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { set, number: index + 1, name: match[2]!, sql, checksum };
    }),
  );
}
