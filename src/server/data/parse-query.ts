/**
 * Parses and validates the query string of a data request (docs/specification/api.md 19). Pure. Names are resolved to
 * the objects of the allow-list, values stay texts.
 */
import { dataError, type DataError } from './errors.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import type { Condition, Order, Query, Comparison, Truth } from './query.ts';

/** Query parameters that are not filters: some clients send the key here in addition to the `apikey` header. */
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

/** Counts each condition, also within groups, and each group as one more: nesting takes work too. */
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

/**
 * Takes no spaces around the name, which `parseNames` trims. Threat: a lazy name before optional spaces takes quadratic
 * time for 16 KB of spaces.
 */
const ORDER_TERM = /^([^.]+)(?:\.(asc|desc))?(?:\.(nullsfirst|nullslast))?$/;

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

// Parses the filters of a query string: `date=gte.2026-01-01`, `id=in.(a,b)`, `or=(date.eq.x,and(...))`
// (docs/specification/api.md 19).
//
// Threat: SQL injection. Values become parameters of the statement; those of `is` are compared with a fixed list. Names
// are resolved to the objects of the allow-list, so no text of the request reaches SQL as a column or an operator.

/** The most filters of a query, with those in groups; real requests have a handful. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 10;

const COMPARISONS: ReadonlySet<string> = new Set<Comparison>([
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'like',
  'ilike',
  'isdistinct',
]);
const TRUTHS: ReadonlySet<string> = new Set<Truth>(['null', 'not_null', 'true', 'false', 'unknown']);
const isComparison = (text: string): text is Comparison => COMPARISONS.has(text);
const isTruth = (text: string): text is Truth => TRUTHS.has(text);

const OPERATOR = /(not\.)?([a-z]+)(?:\((any|all)\))?\./y;
const GROUP = /(not\.)?(and|or)(?=[ \t]*\()/y;
const NAME = /(?:"((?:[^"\\]|\\.)*)"|([^.,()" \t]+))[ \t]*\./y;
const SPACES = /[ \t]*/y;

function findColumn(table: ExposedTable, name: string): Column {
  const column = table.columns.get(name);
  if (!column) throw dataError('42703', { message: `column ${table.name}.${name} does not exist` });
  return column;
}

/** Parses `name=operator.value`; the value is the rest of the text. */
function parseFilter(table: ExposedTable, name: string, text: string): Condition {
  const column = findColumn(table, name);
  const cursor = new Cursor(text, 'filter');
  const condition = parseOperation(cursor, column, (rest) => rest.takeRest());
  cursor.expectEnd();
  return condition;
}

/** Parses the conditions in parentheses of `and=`, `or=`, `not.and=` or `not.or=`. */
function parseGroup(table: ExposedTable, name: string, text: string): Condition {
  const cursor = new Cursor(text, 'logic tree');
  const negated = name.startsWith('not.');
  const group = parseConditions(cursor, table, negated ? name.slice(4) : name, negated, 1);
  cursor.expectEnd();
  return group;
}

/** Spaces may stand around parentheses, commas and names, as in PostgREST. */
function parseConditions(
  cursor: Cursor,
  table: ExposedTable,
  joined: string,
  negated: boolean,
  depth: number,
): Condition {
  if (depth > MAX_DEPTH) throw cursor.problem(`more than ${MAX_DEPTH} levels`);
  const conditions: Condition[] = [];
  cursor.expectSpaced('(');
  do {
    if (conditions.length >= MAX_CONDITIONS) throw cursor.problem(`more than ${MAX_CONDITIONS} conditions`);
    const group = cursor.match(GROUP);
    if (group) {
      conditions.push(parseConditions(cursor, table, group[2]!, group[1] !== undefined, depth + 1));
    } else {
      const name = cursor.match(NAME) ?? cursor.fail('expecting a column, "and" or "or"');
      const column = findColumn(table, name[2] ?? unescaped(name[1]!));
      conditions.push(parseOperation(cursor, column, (rest) => rest.takeItem(',)', column.type !== 'text')));
    }
  } while (cursor.skipSpaced(','));
  cursor.expectSpaced(')');
  return { kind: 'group', joined: joined === 'or' ? 'or' : 'and', negated, conditions };
}

function parseOperation(cursor: Cursor, column: Column, takeValue: (rest: Cursor) => string): Condition {
  const match = cursor.match(OPERATOR) ?? cursor.fail('expecting "not" or operator (eq, gt, ...)');
  const negated = match[1] !== undefined;
  const [, , name = '', of] = match;
  if (name === 'in' && !of) {
    return {
      kind: 'each',
      column,
      operator: 'eq',
      of: 'any',
      negated,
      values: cursor.takeList(column.type !== 'text'),
    };
  }
  if (name === 'is' && !of) {
    const value = takeValue(cursor).trim().toLowerCase();
    return isTruth(value)
      ? { kind: 'is', column, negated, value }
      : cursor.fail(`"is" takes ${[...TRUTHS].join(', ')}`);
  }
  if (!isComparison(name) || (of && name === 'isdistinct')) return cursor.fail(`unknown operator "${name}"`);
  const isPattern = name === 'like' || name === 'ilike';
  const pattern = (value: string): string => (isPattern ? value.replaceAll('*', '%') : value);
  if (of === 'any' || of === 'all') {
    const values = cursor.takeArray().map(pattern);
    return { kind: 'each', column, operator: name, of, negated, values };
  }
  return { kind: 'compare', column, operator: name, negated, value: pattern(takeValue(cursor)) };
}

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1');

const QUOTED = /[ \t]*"((?:[^"\\]|\\.)*)"/sy;

/** A single-pass parser of one parameter's text; every step is linear in the consumed length. */
class Cursor {
  private readonly text: string;
  private readonly kind: string;
  private at = 0;

  constructor(text: string, kind: 'filter' | 'logic tree') {
    this.text = text;
    this.kind = kind;
  }

  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  /** Skips the character and the spaces around it. */
  skipSpaced(character: string): boolean {
    this.match(SPACES);
    if (!this.skip(character)) return false;
    this.match(SPACES);
    return true;
  }

  expectSpaced(character: string): void {
    if (!this.skipSpaced(character)) this.fail(`expecting "${character}"`);
  }

  expectEnd(): void {
    if (this.at < this.text.length) this.fail('expecting the end');
  }

  takeRest(): string {
    const rest = this.text.slice(this.at);
    this.at = this.text.length;
    return rest;
  }

  /**
   * Takes a text in double quotes (with backslash escapes), or everything up to one of the characters of `stops`, if
   * `trims` without the spaces around it.
   */
  takeItem(stops: string, trims: boolean): string {
    const quoted = this.match(QUOTED);
    if (quoted) {
      this.match(SPACES);
      return unescaped(quoted[1]!);
    }
    const start = this.at;
    while (this.at < this.text.length && !stops.includes(this.text[this.at]!)) this.at += 1;
    const item = this.text.slice(start, this.at);
    return trims ? item.trim() : item;
  }

  /** Takes `(a,b)`. As in PostgREST, spaces of a list of texts are part of them, except after the parenthesis. */
  takeList(trims: boolean): string[] {
    this.expectSpaced('(');
    const items: string[] = [];
    if (this.skip(')')) return items;
    do items.push(this.takeItem(',)', trims));
    while (this.skip(','));
    this.expectSpaced(')');
    return items;
  }

  /** Takes `{a,b}`, an array as PostgreSQL writes it: spaces around its items are not part of them. */
  takeArray(): string[] {
    this.expectSpaced('{');
    const items: string[] = [];
    if (this.skip('}')) return items;
    do items.push(this.takeItem(',}', true));
    while (this.skip(','));
    this.expectSpaced('}');
    return items;
  }

  problem(details: string): DataError {
    const message = `"failed to parse ${this.kind} (${this.text.slice(0, 100)})" (line 1, column ${this.at + 1})`;
    return dataError('PGRST100', { message, details });
  }

  fail(details: string): never {
    const found = this.text[this.at];
    throw this.problem(`unexpected ${found === undefined ? 'end of input' : `"${found}"`} ${details}`);
  }
}
