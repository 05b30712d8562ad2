/** A copy of the program that is one release newer: it has a migration of each phase that an older version tolerates. */
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { ROOT } from '../../scripts/project.ts';
import { STATE } from './folders.ts';

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'data', 'node_modules', 'screenshots', 'test-results']);
const NEW_COLUMN = 'upgrade_note';
export const NEW_INDEX = 'entries_by_upgrade_note';
const MIGRATIONS = [
  ['expand', `alter table public.entries add column ${NEW_COLUMN} text`],
  ['migrate', `create index concurrently if not exists ${NEW_INDEX} on public.entries (user_id, ${NEW_COLUMN})`],
] as const;

/** Returns the folder of the program. */
export async function createNewerVersion(): Promise<string> {
  const root = join(STATE, 'newer');
  await mkdir(root, { recursive: true });
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.has(name)) await cp(join(ROOT, name), join(root, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const folder = join(root, 'database', 'migrations', 'app');
  const last = (await readMigrations()).at(-1)!.number;
  for (const [index, [phase, statement]] of MIGRATIONS.entries()) {
    const number = String(last + index + 1).padStart(4, '0');
    await writeFile(join(folder, `${number}_${phase}_upgrade.sql`), `-- phase: ${phase}\n${statement};\n`);
  }
  return root;
}
