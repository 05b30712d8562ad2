/** Builds SQL fragments: only constants and allow-listed names enter the text, all values become parameters. */
import type { Column, ExposedTable } from '../exposed-tables.ts';
import type { Comparison, Condition, Order, Truth } from '../query.ts';

export type Sql = { readonly text: string; readonly values: readonly unknown[] };

/** Collects the parameters of one statement. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/** Safe because column names come only from `exposed-tables.ts`. */
export const quoteColumn = (column: Column): string => `"${column.name}"`;
export const quoteColumns = (columns: readonly Column[]): string => columns.map(quoteColumn).join(', ');
export const tableName = (table: ExposedTable): string => `public."${table.name}"`;

const OPERATORS: Readonly<Record<Comparison, string>> = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'like',
  ilike: 'ilike',
  isdistinct: 'is distinct from',
};

const TRUTHS: Readonly<Record<Truth, string>> = {
  null: 'is null',
  not_null: 'is not null',
  true: 'is true',
  false: 'is false',
  unknown: 'is unknown',
};

function conditionSql(condition: Condition, values: Values): string {
  const sql = unnegatedSql(condition, values);
  return condition.negated ? `not (${sql})` : sql;
}

function unnegatedSql(condition: Condition, values: Values): string {
  switch (condition.kind) {
    case 'compare':
      return `${quoteColumn(condition.column)} ${OPERATORS[condition.operator]} ${values.add(condition.value)}`;
    case 'each': {
      const list = values.add(arrayLiteral(condition.values));
      return `${quoteColumn(condition.column)} ${OPERATORS[condition.operator]} ${condition.of} (${list})`;
    }
    case 'is':
      return `${quoteColumn(condition.column)} ${TRUTHS[condition.value]}`;
    case 'group':
      return `(${condition.conditions.map((inner) => conditionSql(inner, values)).join(` ${condition.joined} `)})`;
  }
}

/** One parameter for any number of items, so the statement's text stays the same and its plan is reused. */
const arrayLiteral = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

export function whereSql(where: readonly Condition[], values: Values): string {
  return where.length === 0 ? '' : ` where ${where.map((condition) => conditionSql(condition, values)).join(' and ')}`;
}

export function orderSql(order: readonly Order[]): string {
  if (order.length === 0) return '';
  const terms = order.map(
    ({ column, descending, nulls }) =>
      quoteColumn(column) + (descending ? ' desc' : '') + (nulls ? ` nulls ${nulls}` : ''),
  );
  return ` order by ${terms.join(', ')}`;
}
