/** Records the statements that the product runs through its database interface. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { AsService, AsUser, Database, Identity, Statements } from '#server/database/database.ts';

/** A statement and the values of its first run, as PostgreSQL's text form. */
export type RecordedStatement = {
  role: Identity['role'] | 'service_role';
  /** The user of the claims. Null for a guest and for the service. */
  userId: string | null;
  text: string;
  values: (string | null)[];
};

/** Environment variable with a folder: every worker of the run writes its statements there, one JSON object a line. */
export const RECORD_VARIABLE = 'TEST_STATEMENTS_DIR';

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }).utils;

function textOf(value: unknown): string | null {
  const prepared = prepareValue(value);
  return Buffer.isBuffer(prepared) ? `\\x${prepared.toString('hex')}` : prepared;
}

/** Calls `record` at the first run of each text. Statements that a test itself runs are not recorded. */
export function recordStatements(database: Database, record: (statement: RecordedStatement) => void): Database {
  const known = new Set<string>();
  const wrap = <Kind extends Statements>(statements: Kind, identity: Identity | null): Kind => {
    const statement: Statements['statement'] = (text, values) => {
      if (!known.has(text)) {
        known.add(text);
        if (isProductCode(new Error().stack!)) record({ ...actingAs(identity), text, values: values.map(textOf) });
      }
      return statements.statement(text, values);
    };
    const run = async <Row>(query: { compile(): CompiledQuery<Row> }): Promise<Row[]> => {
      const { sql, parameters } = query.compile();
      return (await statement<Row>(sql, parameters)).rows;
    };
    return { ...statements, statement, run };
  };
  return {
    ...database,
    asUser: (identity, options) => wrap<AsUser>(database.asUser(identity, options), identity),
    asService: (reason) => wrap<AsService>(database.asService(reason), null),
    transactAsUser: (identity, work) =>
      database.transactAsUser(identity, (transaction) => work(wrap(transaction, identity))),
    transactAsService: (reason, work) =>
      database.transactAsService(reason, (transaction) => work(wrap(transaction, null))),
  };
}

function actingAs(identity: Identity | null): Pick<RecordedStatement, 'role' | 'userId'> {
  if (identity === null) return { role: 'service_role', userId: null };
  const { sub } = JSON.parse(identity.claimsJson) as { sub?: string };
  return { role: identity.role, userId: sub ?? null };
}

/** Whether the first caller outside of this file is part of the product. */
function isProductCode(stack: string): boolean {
  const caller = stack.split('\n').find((line) => line.includes('.ts:') && !line.includes('record-statements.ts:'));
  return caller !== undefined && caller.includes('/src/server/') && !caller.includes('.test.ts:');
}

/** Appends to the file of this worker. Synchronous, so that lines of concurrent tests stay whole. */
export function saveStatement(statement: RecordedStatement): void {
  const folder = process.env[RECORD_VARIABLE];
  if (folder) appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(statement)}\n`);
}
