/** The numbered SQL files of `database/migrations` and their phases (docs/operations/upgrades.md). */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const MIGRATIONS = new URL('../../../../database/migrations/', import.meta.url);

/** In application order: policies of `app` call functions of `auth`. */
const MIGRATION_SETS = ['auth', 'app'] as const;

/**
 * `expand` runs before the server listens, and older servers keep working on the result. `migrate` runs in the
 * background while servers serve: an index, a check of old rows, or a backfill in batches. `contract` removes what only
 * older servers use, so it waits until none is connected.
 */
export type Phase = 'expand' | 'migrate' | 'contract';

/** How the one statement of a file of the phase `migrate` runs: once, or again until it changes no row. */
export type Step = { kind: 'index'; index: string } | { kind: 'once' } | { kind: 'batches' };

export type Migration = {
  set: string;
  number: number;
  name: string;
  phase: Phase;
  /** Null unless the phase is `migrate`. */
  step: Step | null;
  /** Set for a baseline: the migrations up to its own number, which databases of earlier versions have instead. */
  replaces: ReplacedMigrations | null;
  sql: string;
  checksum: string;
};

/** `sha256` of the checksums of all `count` migrations in order, one a line. */
type ReplacedMigrations = { count: number; sha256: string };

/**
 * All migrations in order. A set may begin with a baseline instead of number 1: the whole schema, with the number of
 * the last migration it replaces.
 *
 * @throws Error when the numbers of a set have a gap, or a file of the phase `migrate` has not exactly one statement of
 * an allowed form.
 */
export async function readMigrations(folder: URL = MIGRATIONS): Promise<Migration[]> {
  const sets = await Promise.all(MIGRATION_SETS.map((set) => readSet(new URL(`${set}/`, folder), set)));
  return sets.flat();
}

async function readSet(folder: URL, set: string): Promise<Migration[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.sql')).toSorted();
  const first = Number(/^(\d{4})_baseline\.sql$/.exec(files[0] ?? '')?.[1] ?? 1);
  return Promise.all(
    files.map(async (file, index) => {
      const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file);
      const path = fileURLToPath(new URL(file, folder));
      const number = first + index;
      if (!match || Number(match[1]) !== number) {
        throw new Error(`${path}: migrations are numbered without a gap, and here follows number ${number}`);
      }
      // A Windows checkout may change line endings; the checksum must not depend on them.
      const sql = (await readFile(path, 'utf8')).replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const phase = readPhase(sql);
      const step = phase === 'migrate' ? readStep(sql) : null;
      if (phase === 'migrate' && step === null) {
        throw new Error(`${path}: the phase migrate has one statement, of a form in docs/operations/upgrades.md`);
      }
      return { set, number, name: match[2]!, phase, step, replaces: readReplaced(sql), sql, checksum };
    }),
  );
}

/** The first line names the phase. A file without such a line is of the phase `expand`. */
function readPhase(sql: string): Phase {
  return (/^-- phase: (expand|migrate|contract)\n/.exec(sql)?.[1] ?? 'expand') as Phase;
}

function readReplaced(sql: string): ReplacedMigrations | null {
  const [, count, sha256] = /^-- replaces: (\d+) migrations, sha256 ([0-9a-f]{64})$/m.exec(sql) ?? [];
  return count && sha256 ? { count: Number(count), sha256 } : null;
}

function readStep(sql: string): Step | null {
  const statement = sql.replaceAll(/^\s*--.*$/gm, '').trim();
  if (/;./s.test(statement)) return null;
  const index = /^create (?:unique )?index concurrently if not exists (\w+)\s+on (\w+)\.\w+/i.exec(statement);
  // An index is in the schema of its table.
  if (index) return { kind: 'index', index: `${index[2]}.${index[1]}` };
  const isOnce = /^(?:drop index concurrently if exists|alter table \S+\s+validate constraint) \S+;?$/i.test(statement);
  if (isOnce) return { kind: 'once' };
  return /^(?:with|update|delete|insert)\b.*\blimit \d+/is.test(statement) ? { kind: 'batches' } : null;
}
