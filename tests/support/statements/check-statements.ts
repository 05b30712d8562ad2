/**
 * Fails a test whose statements touch rows of users without naming the user: beside row-level security, every statement
 * has its own condition on the user, so that it touches one partition or shard (docs/decisions/0041).
 *
 * Checks the plan instead of the text: `explain` runs as a superuser, for whom no policy adds a condition, and every
 * scan of a user's table must have a condition on the user.
 */
import pg from 'pg';
import { findSweep } from './system-sweeps.ts';

/** EXPLAIN (GENERIC_PLAN) came with PostgreSQL 16. `npm test` checks the same statements on the embedded server. */
export const canExplain = async (admin: pg.Pool): Promise<boolean> => {
  const { rows } = await admin.query<{ server_version_num: string }>('show server_version_num');
  return Number(rows[0]!.server_version_num) >= 160_000;
};

/** Texts that were already checked. The test files of a worker share the process, so it checks each text once. */
const checked = new Set<string>();

/** @throws Error that names each statement and table */
export async function checkStatements(admin: pg.Pool, texts: Iterable<string>): Promise<void> {
  const unchecked = [...texts].filter((text) => !checked.has(text));
  if (unchecked.length === 0 || !(await canExplain(admin))) return;
  const tables = await readUserTables(admin);
  const names = new RegExp(`\\b(${tables.map(({ name }) => name).join('|')}|deleted_days|entry_dates)\\b`);
  const problems: string[] = [];
  for (const text of unchecked) {
    checked.add(text);
    if (!names.test(text)) continue;
    for (const table of await tablesWithoutUser(admin, text, tables)) {
      problems.push(`This statement reads rows of ${table} without naming their user:\n${text}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n\n'));
}

/** The users' tables that the statement scans without a condition on the user, except for the known sweeps. */
export async function tablesWithoutUser(
  admin: pg.Pool,
  text: string,
  tables: readonly UserTable[],
): Promise<ReadonlySet<string>> {
  const plan = await explain(admin, text);
  const found = new Set<string>();
  for (const node of nodesOf(plan)) {
    // An insert names the user in each row, because the column is not null. For an update or delete, the scan node
    // below has the condition.
    if (node['Node Type'] === 'ModifyTable') continue;
    const table = tables.find(({ name }) => name === tableOf(node));
    if (!table || findSweep(table.name, text)) continue;
    if (!new RegExp(`\\b${table.userColumn} = `).test(conditionsOf(node))) found.add(table.name);
  }
  return found;
}

const SYNTAX_ERROR = '42601';

/** Without sequential scans, which PostgreSQL prefers once autovacuum has seen that a table is small. */
async function explain(admin: pg.Pool, text: string): Promise<PlanNode> {
  try {
    const results = (await admin.query(
      `set local enable_seqscan = off; explain (generic_plan, format json) ${text}`,
    )) as unknown as [unknown, pg.QueryResult<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>];
    return results[1].rows[0]!['QUERY PLAN'][0].Plan;
  } catch (error) {
    // A statement that PostgreSQL refuses to plan touches no rows: its test expects the error. But a syntax error may
    // come from `explain`, which does not support every kind of statement.
    if (error instanceof pg.DatabaseError && error.code !== SYNTAX_ERROR) return { 'Node Type': 'Refused' };
    throw new Error(`cannot explain ${text}: ${String(error)}`, { cause: error });
  }
}

export type PlanNode = {
  'Node Type': string;
  Plans?: PlanNode[];
  'Relation Name'?: string;
  [property: string]: unknown;
};

export function* nodesOf(plan: PlanNode): Generator<PlanNode> {
  yield plan;
  for (const child of plan.Plans ?? []) yield* nodesOf(child);
}

/** `entries_p03` is a partition of `entries` (partition-tables.ts). */
export const PARTITION_SUFFIX = /_p\d+$/;

export const tableOf = (node: PlanNode): string | undefined => node['Relation Name']?.replace(PARTITION_SUFFIX, '');

const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter'] as const;

/** The conditions that a scan applies to the rows of its own table. */
const conditionsOf = (node: PlanNode): string =>
  CONDITIONS.map((name) => node[name])
    .filter((condition) => typeof condition === 'string')
    .join(' ');

export type UserTable = {
  /** Without the schema, which is `public`. */
  name: string;
  /** The column that names the user of a row. */
  userColumn: string;
};

/** Tables with a column `user_id` that stay on one node (docs/decisions/0041). */
const CENTRAL_TABLES: ReadonlyMap<string, string> = new Map([
  ['document_links', 'whoever opens a link names its token, whose hash is unique over all users, and not the user'],
  ['payments', "PayPal names orders and captures, whose ids are unique over all users, and never the product's users"],
  [
    'push_subscriptions',
    'a browser has one endpoint, which is unique over all users: the next user of the browser takes it over',
  ],
  ['slack_links', "Slack names its own teams and users, and never the product's users"],
]);

/** The only table of users without a column `user_id`: its column `id` is the user's. */
const TABLE_OF_USERS = 'profiles';

export async function readUserTables(admin: pg.Pool | pg.Client): Promise<UserTable[]> {
  const { rows } = await admin.query<UserTable>(
    `select relname as name, attname as "userColumn"
       from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and (attname = 'user_id' or (relname = $1 and attname = 'id'))
      order by relname`,
    [TABLE_OF_USERS],
  );
  return rows.filter(({ name }) => !CENTRAL_TABLES.has(name));
}
