/**
 * Parses and validates the query string of a data request (docs/specification/wire.md 19). Pure. Names are resolved to
 * the objects of the allow-list, values stay texts.
 */
import { dataError } from '../errors.ts';
import type { Column, ExposedTable } from '../exposed-tables.ts';
import { findColumn, MAX_CONDITIONS, parseFilter, parseGroup } from './parse-filter.ts';
import type { Condition, Order, Query } from '../query.ts';

/** Query parameters that are no filters: some clients send the key here in addition to the `apikey` header. */
const IGNORED_PARAMETERS = new Set(['apikey']);
const GROUPS = new Set(['and', 'or', 'not.and', 'not.or']);

/** `search` is the query string without the question mark, undecoded. Throws a DataError. */
export function parseQuery(table: ExposedTable, search: string): Query {
  if (search.includes('%00')) throw dataError('22P05', { details: '\\u0000 cannot be converted to text.' });
  let select = allColumns(table);
  let order: readonly Order[] = [];
  let offset = 0;
  let limit: number | null = null;
  let columns: readonly Column[] | null = null;
  let onConflict: readonly Column[] | null = null;
  const where: Condition[] = [];
  for (const [name, text] of new URLSearchParams(search)) {
    if (name === 'select') select = parseSelect(table, text);
    else if (name === 'order') order = parseOrder(table, text);
    else if (name === 'limit') limit = parseCount(name, text);
    else if (name === 'offset') offset = parseCount(name, text);
    else if (name === 'columns') columns = parseColumns(table, text);
    else if (name === 'on_conflict')
      onConflict = [...new Set(parseNames(text).map((column) => findColumn(table, column)))];
    else if (GROUPS.has(name)) where.push(parseGroup(table, name, text));
    else if (!IGNORED_PARAMETERS.has(name)) where.push(parseFilter(table, name, text));
    if (countConditions(where) > MAX_CONDITIONS)
      throw dataError('PGRST100', { details: `more than ${MAX_CONDITIONS} filters` });
  }
  return { select, where, order, range: { offset, limit }, columns, onConflict };
}

/** Counts the conditions in groups, and a group as one: an empty nesting is work too. */
const countConditions = (conditions: readonly Condition[]): number =>
  conditions.reduce(
    (count, condition) => count + 1 + (condition.kind === 'group' ? countConditions(condition.conditions) : 0),
    0,
  );

const columnsByTable = new WeakMap<ExposedTable, readonly Column[]>();

function allColumns(table: ExposedTable): readonly Column[] {
  let all = columnsByTable.get(table);
  if (!all) columnsByTable.set(table, (all = [...table.columns.values()]));
  return all;
}

/** Splits `a,b,"c"`. Quotes are removed, because no exposed column needs them. */
const parseNames = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim().replace(/^"(.*)"$/s, '$1'))
    .filter((name) => name !== '');

const AGGREGATE = /^(?:[^.()]*\.)?(?:count|sum|avg|min|max)\(\)/;

function parseSelect(table: ExposedTable, text: string): readonly Column[] {
  if (text === '' || text === '*') return allColumns(table);
  const selected = new Set<Column>();
  for (const name of parseNames(text)) {
    if (name === '*') for (const column of table.columns.values()) selected.add(column);
    else if (table.columns.has(name)) selected.add(findColumn(table, name));
    else throw toSelectError(table, name, text);
  }
  return selected.size === 0 ? allColumns(table) : [...selected];
}

function toSelectError(table: ExposedTable, name: string, text: string) {
  if (AGGREGATE.test(name)) return dataError('PGRST123');
  const embedded = /^(?:\.\.\.)?([^(]+)\(/.exec(name);
  if (embedded) {
    return dataError('PGRST200', {
      message: `Could not find a relationship between '${table.name}' and '${embedded[1]}' in the schema cache`,
    });
  }
  if (/[:>()]/.test(name)) {
    return dataError('PGRST100', {
      message: `"failed to parse select parameter (${text.slice(0, 100)})" (line 1, column 1)`,
      details: 'Column names and "*" can be selected; aliases, casts and JSON paths cannot.',
    });
  }
  return dataError('42703', { message: `column ${table.name}.${name} does not exist` });
}

const ORDER_TERM = /^([^.]+?)[ \t]*(?:\.(asc|desc))?(?:\.(nullsfirst|nullslast))?$/;

function parseOrder(table: ExposedTable, text: string): Order[] {
  const terms = new Map<Column, Order>();
  const parts = text.split(',').map((term) => term.trim());
  for (const part of parts.filter((term) => term !== '')) {
    const match = ORDER_TERM.exec(part);
    if (!match) {
      throw dataError('PGRST100', {
        message: `"failed to parse order (${text.slice(0, 100)})" (line 1, column 1)`,
        details: `unexpected "${part.slice(0, 100)}" expecting column.asc, column.desc, nullsfirst or nullslast`,
      });
    }
    const column = findColumn(table, parseNames(match[1]!)[0] ?? '');
    const nulls = match[3] === undefined ? null : match[3] === 'nullsfirst' ? 'first' : 'last';
    // Ordering by a column again has no effect and would only lengthen the statement.
    if (!terms.has(column)) terms.set(column, { column, descending: match[2] === 'desc', nulls });
  }
  return [...terms.values()];
}

function parseCount(name: 'limit' | 'offset', text: string): number {
  if (/^-\d+$/.test(text)) {
    throw dataError('PGRST103', { details: `${name} should be greater than or equal to zero.` });
  }
  if (!/^\d+$/.test(text)) {
    throw dataError('PGRST100', { message: `"failed to parse ${name} (${text.slice(0, 100)})" (line 1, column 1)` });
  }
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

function parseColumns(table: ExposedTable, text: string): Column[] {
  return [...new Set(parseNames(text).map((name) => findWritableColumn(table, name)))];
}

/** Like `findColumn`, with the error code for columns of a payload. */
export function findWritableColumn(table: ExposedTable, name: string): Column {
  const column = table.columns.get(name);
  if (column) return column;
  throw dataError('PGRST204', {
    message: `Could not find the '${name.slice(0, 100)}' column of '${table.name}' in the schema cache`,
  });
}
