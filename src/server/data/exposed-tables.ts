/**
 * Allow-list of the tables and columns of the data API: of these tables, the columns that the database lets a user
 * read. Only these names reach SQL. Row-level security and column grants decide about access.
 */
import { READABLE_TABLES } from '#domain/database-rows.ts';

type ColumnType =
  | 'uuid'
  | 'text'
  | 'date'
  | 'smallint'
  | 'integer'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'smallint[]'
  | 'text[]';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  /** The default that `Prefer: missing=default` writes if a row omits the column, as an SQL expression. */
  readonly defaultSql: string | null;
};

export type ExposedTable = {
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
  /** The primary key: the conflict target of an upsert without `on_conflict`. */
  readonly key: readonly Column[];
  /** The column after the user and the day in an index of the table; null without such an index. */
  readonly orderOfDay: Column | null;
  /** The column that names the user of a row. */
  readonly user: Column;
  /** The columns of a log's HTML and its day; null for a table without logs. */
  readonly log: { readonly content: Column; readonly day: Column } | null;
  /** A view that computes its rows from those of other tables, so that one row may need all of them. */
  readonly isComputed: boolean;
  /** Texts of many kilobytes, whose queries `query-cost.ts` limits. */
  readonly longTexts: ReadonlySet<Column>;
};

type TableName = keyof typeof READABLE_TABLES;
type ColumnName<T extends TableName> = keyof (typeof READABLE_TABLES)[T]['columns'] & string;

type Description<C extends string> = {
  /** The key of a view, which the schema does not name. */
  key?: C[];
  /** `user_id` unless set. */
  user?: C;
  log?: { content: C; day: C };
  isComputed?: boolean;
  orderOfDay?: C;
  longTexts?: C[];
};

function table<T extends TableName>(name: T, description: Description<ColumnName<T>> = {}): [string, ExposedTable] {
  const readable: ReadableTable = READABLE_TABLES[name];
  const columns = new Map(
    Object.entries(readable.columns).map(([column, type]) => [
      column,
      { name: column, type, defaultSql: readable.defaults[column] ?? null },
    ]),
  );
  const find = (column: string): Column => columns.get(column)!;
  const { log, key = readable.key, user = 'user_id', orderOfDay, isComputed = false, longTexts = [] } = description;
  return [
    name,
    {
      name,
      columns,
      key: key.map(find),
      user: find(user),
      orderOfDay: orderOfDay ? find(orderOfDay) : null,
      log: log ? { content: find(log.content), day: find(log.day) } : null,
      isComputed,
      longTexts: new Set(longTexts.map(find)),
    },
  ];
}

/** The members of `READABLE_TABLES` as one type. */
type ReadableTable = {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly defaults: Readonly<Record<string, string>>;
  readonly key: readonly string[];
};

export const EXPOSED_TABLES: ReadonlyMap<string, ExposedTable> = new Map([
  table('analyses', { orderOfDay: 'created_at', longTexts: ['text', 'missing_fact'] }),
  // A view of `entry_versions`.
  table('deleted_days', { key: ['user_id', 'date'], isComputed: true, longTexts: ['excerpt'] }),
  table('document_links'),
  table('documents', { longTexts: ['content'] }),
  table('entries', { log: { content: 'content', day: 'date' }, longTexts: ['content', 'content_text', 'ai_feedback'] }),
  // A view of `entries` without texts that includes the dates of locked days.
  table('entry_dates', { key: ['user_id', 'date'] }),
  table('entry_versions', { longTexts: ['content'] }),
  // A view of `reviews` that says whether the logs of a review have changed since.
  table('kept_reviews', { key: ['user_id', 'id'], isComputed: true, longTexts: ['text'] }),
  table('payments'),
  table('plan_changes'),
  table('preferences'),
  table('profiles', { user: 'id' }),
  table('push_subscriptions'),
  table('time_off'),
  table('reviews', { longTexts: ['text'] }),
]);
