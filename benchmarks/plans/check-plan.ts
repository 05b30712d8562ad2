/** Runs one statement as the server does, with the generic plan of a prepared statement, and finds costly steps. */
import pg from 'pg';
import { ACT_AS } from '#server/database/rls-query.ts';
import {
  nodesOf,
  PARTITION_SUFFIX,
  tableOf,
  type PlanNode,
  type UserTable,
} from '../../tests/support/statements/check-statements.ts';
import type { RecordedStatement } from '../../tests/support/statements/record-statements.ts';
import { findSweep } from '../../tests/support/statements/system-sweeps.ts';

export type Outcome = {
  /** The SQLSTATE of a refused statement; null if it ran. Tests also record statements that must fail. */
  refused: string | null;
  milliseconds: number;
  problems: string[];
};

type Explained = { Plan: PlanNode; 'Execution Time': number };

/**
 * Returns the generic plan for a superuser, which has the statement's own conditions without those of the policies.
 * Null if PostgreSQL refuses the statement.
 */
export async function explainText(client: pg.Client, text: string): Promise<PlanNode | null> {
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': [Explained] }>(`explain (generic_plan, format json) ${text}`);
    return rows[0]!['QUERY PLAN'][0].Plan;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return null;
    throw error;
  }
}

/** Executes the statement as its role, checks the plan and the accessed tables, and rolls back. */
export async function checkPlan(
  client: pg.Client,
  { role, text }: RecordedStatement,
  values: readonly (string | null)[],
  claimsJson: string,
  tables: readonly UserTable[],
): Promise<Outcome> {
  const literals = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(value)));
  try {
    await client.query('begin');
    await client.query('set local plan_cache_mode = force_generic_plan');
    const before = await readCounts(client);
    await client.query(ACT_AS, [role, claimsJson]);
    await client.query(`prepare checked as ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': [Explained] }>(
      `explain (analyze, buffers, verbose, format json) execute checked${literals.length > 0 ? `(${literals.join(', ')})` : ''}`,
    );
    await client.query('set constraints all immediate');
    const [{ Plan: plan, 'Execution Time': milliseconds }] = rows[0]!['QUERY PLAN'];
    const isSwept = (table: string): boolean => findSweep(table, text) !== undefined;
    const names = tables.map(({ name }) => name).filter((name) => !isSwept(name));
    return {
      refused: null,
      milliseconds,
      problems: [...problemsOf(plan, names), ...problemsOfTables(before, await readCounts(client), names)],
    };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return { refused: error.code ?? 'unknown', milliseconds: 0, problems: [] };
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

function problemsOf(plan: PlanNode, names: readonly string[]): string[] {
  const problems: string[] = [];
  for (const node of nodesOf(plan)) {
    if (node['Actual Loops'] === 0) continue;
    const table = tableOf(node);
    if (node['Node Type'].includes('Seq Scan') && table !== undefined && names.includes(table)) {
      problems.push(`sequential scan of ${table}`);
    }
  }
  if (Number(plan['Temp Written Blocks']) > 0) problems.push('spilled to disk');
  return problems;
}

type Counts = { relation: string; scanned: number; touched: number };

/** Reads the counters that this session has not reported yet: they include functions, triggers and foreign keys. */
async function readCounts(client: pg.Client): Promise<Counts[]> {
  const { rows } = await client.query<Counts>(
    `select relname as relation, seq_scan::int as scanned,
            (seq_scan + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del)::int as touched
       from pg_catalog.pg_stat_xact_user_tables where schemaname = 'public'`,
  );
  return rows;
}

function problemsOfTables(before: readonly Counts[], after: readonly Counts[], names: readonly string[]): string[] {
  const partitions = new Map<string, number>();
  const problems: string[] = [];
  for (const { relation, scanned, touched } of after) {
    const earlier = before.find((counts) => counts.relation === relation);
    const table = relation.replace(PARTITION_SUFFIX, '');
    if (!names.includes(table)) continue;
    if (scanned > (earlier?.scanned ?? 0)) problems.push(`sequential scan of ${relation}, perhaps in a function`);
    if (touched > (earlier?.touched ?? 0)) partitions.set(table, (partitions.get(table) ?? 0) + 1);
  }
  for (const [table, count] of partitions) if (count > 1) problems.push(`${count} partitions of ${table} touched`);
  return problems;
}
