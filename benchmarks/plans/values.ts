/**
 * Replaces the values of a recorded statement, which name rows of a test, by rows of the large database. The generic
 * plan tells which parameter is compared with which column.
 */
import { addDays, dayOf } from '#domain/day/day.ts';
import { nodesOf, tableOf, type PlanNode } from '../../tests/support/statements/check-statements.ts';
import type { RecordedStatement } from '../../tests/support/statements/record-statements.ts';

export type LargeRows = { userId: string; entryId: string };

const UUID_MEMBER = /"id":"([0-9a-f]{8}-[0-9a-f-]{27})"/g;
const TABLES_OF_USERS: ReadonlySet<string | undefined> = new Set(['profiles', 'users']);
/** Days from today. That day has a log, and the free plan no longer opens it. */
const OLD_DAY_OFFSET = -100;

export function valuesFor(
  { text, values, userId }: RecordedStatement,
  plan: PlanNode,
  rows: LargeRows,
): (string | null)[] {
  const mapped = values.map((value) => (userId === null ? value : (value?.replaceAll(userId, rows.userId) ?? null)));
  const set = (parameter: string, value: string): void => void (mapped[Number(parameter) - 1] = value);
  const day = addDays(dayOf(new Date()), OLD_DAY_OFFSET);
  for (const node of nodesOf(plan)) {
    const conditions = Object.values(node)
      .filter((property) => typeof property === 'string')
      .join(' ');
    const table = tableOf(node);
    for (const [, column, , parameter] of conditions.matchAll(/\b(\w+) (=|>=|<=|<|>) \$(\d+)\b/g)) {
      if (column === 'user_id' || (column === 'id' && TABLES_OF_USERS.has(table))) set(parameter!, rows.userId);
      else if (column === 'id' && table === 'entries') set(parameter!, rows.entryId);
      else if (column === 'date') set(parameter!, day);
    }
    for (const [, column, parameter] of conditions.matchAll(/\b(\w+) = ANY \(\$(\d+)\)/g)) {
      if (column === 'id' && table === 'entries') set(parameter!, `{${rows.entryId}}`);
    }
  }
  // An insert has its rows in a list of values, or in one JSON parameter, which `replaceInJson` changes below.
  const inserted = /insert into \S+(?: as \w+)? \(([^)]*)\)\s+values \(([^)]*)\)/.exec(text);
  const columns = inserted?.[1]!.split(',').map((column) => column.trim().replaceAll('"', '')) ?? [];
  const parameters = inserted?.[2]!.split(',').map((parameter) => parameter.trim().slice(1)) ?? [];
  for (const [index, column] of columns.entries()) {
    if (column === 'user_id') set(parameters[index]!, rows.userId);
    if (column === 'payment_id') mapped[Number(parameters[index]) - 1] = null;
  }
  return mapped.map((value) =>
    value?.startsWith('[{') || value?.startsWith('{"') ? replaceInJson(value, rows) : value,
  );
}

/** An id in JSON that is not the user's is that of a log. */
const replaceInJson = (value: string, { userId, entryId }: LargeRows): string =>
  value.replaceAll(UUID_MEMBER, (whole, id: string) => (id === userId ? whole : `"id":"${entryId}"`));
