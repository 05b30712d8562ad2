/**
 * Allow-list of the tables and columns of the data wire: those that the database lets a user read (a test compares).
 * Only these names reach SQL. Row-level security and column grants decide about access.
 */
type ColumnType = 'uuid' | 'text' | 'date' | 'integer' | 'bigint' | 'boolean' | 'timestamptz' | 'smallint[]' | 'text[]';

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
  /** The rest of an index whose first columns are the user and the day, if the table has one. */
  readonly orderOfDay: Column | null;
  /** The column that names the user of a row. */
  readonly user: Column;
  /** The columns of a log's HTML and its day. */
  readonly log: { readonly content: Column; readonly day: Column } | null;
  /** A view that computes its rows from those of other tables, so that even one row needs all of them. */
  readonly isComputed: boolean;
  /** Texts of many kilobytes, whose queries `query-cost.ts` limits. */
  readonly longTexts: ReadonlySet<Column>;
};

type Description = {
  columns: Record<string, ColumnType>;
  /** The defaults of the columns that a client may write, as SQL expressions. */
  defaults?: Record<string, string>;
  key: string[];
  /** `user_id` unless set. */
  user?: string;
  log?: { content: string; day: string };
  isComputed?: boolean;
  orderOfDay?: string;
  longTexts?: string[];
};

function table(name: string, description: Description): ExposedTable {
  const columns = new Map<string, Column>();
  for (const [column, type] of Object.entries(description.columns)) {
    columns.set(column, { name: column, type, defaultSql: description.defaults?.[column] ?? null });
  }
  const find = (column: string): Column => {
    const found = columns.get(column);
    if (!found) throw new Error(`${name} has no column ${column}`);
    return found;
  };
  const { log } = description;
  return {
    name,
    columns,
    key: description.key.map(find),
    user: find(description.user ?? 'user_id'),
    orderOfDay: description.orderOfDay ? find(description.orderOfDay) : null,
    log: log ? { content: find(log.content), day: find(log.day) } : null,
    isComputed: description.isComputed ?? false,
    longTexts: new Set(description.longTexts?.map(find)),
  };
}

export const EXPOSED_TABLES: ReadonlyMap<string, ExposedTable> = new Map(
  [
    table('analyses', {
      columns: {
        user_id: 'uuid',
        id: 'uuid',
        kind: 'text',
        date: 'date',
        period_from: 'date',
        period_to: 'date',
        provider: 'text',
        model: 'text',
        score: 'integer',
        text: 'text',
        cited: 'smallint[]',
        cited_refs: 'text[]',
        missing_fact: 'text',
        created_at: 'timestamptz',
      },
      key: ['user_id', 'id'],
      orderOfDay: 'created_at',
      longTexts: ['text', 'missing_fact'],
    }),
    // A view of `entry_versions`.
    table('deleted_days', {
      columns: { user_id: 'uuid', date: 'date', version_id: 'uuid', deleted_at: 'timestamptz', excerpt: 'text' },
      key: ['user_id', 'date'],
      isComputed: true,
      longTexts: ['excerpt'],
    }),
    table('entries', {
      columns: {
        id: 'uuid',
        user_id: 'uuid',
        date: 'date',
        content: 'text',
        content_text: 'text',
        revision: 'integer',
        created_at: 'timestamptz',
        updated_at: 'timestamptz',
        ai_feedback: 'text',
        hustle_score: 'integer',
        ai_analyzed_at: 'timestamptz',
      },
      defaults: { id: 'gen_random_uuid()', updated_at: 'now()' },
      key: ['user_id', 'date'],
      log: { content: 'content', day: 'date' },
      longTexts: ['content', 'content_text', 'ai_feedback'],
    }),
    // A view of `entries` without texts that includes the dates of locked days.
    table('entry_dates', { columns: { user_id: 'uuid', date: 'date' }, key: ['user_id', 'date'] }),
    table('entry_versions', {
      columns: {
        user_id: 'uuid',
        date: 'date',
        id: 'uuid',
        entry_id: 'uuid',
        content: 'text',
        written_at: 'timestamptz',
        kept_at: 'timestamptz',
        replaced_by: 'text',
      },
      key: ['user_id', 'date', 'id'],
      longTexts: ['content'],
    }),
    table('payments', {
      columns: {
        id: 'uuid',
        user_id: 'uuid',
        order_id: 'text',
        amount_minor: 'integer',
        currency: 'text',
        status: 'text',
        country: 'text',
        created_at: 'timestamptz',
        completed_at: 'timestamptz',
      },
      key: ['id'],
    }),
    table('plan_changes', {
      columns: {
        user_id: 'uuid',
        id: 'bigint',
        plan: 'text',
        access_valid_until: 'date',
        reason: 'text',
        changed_at: 'timestamptz',
        payment_id: 'uuid',
        valid_from: 'date',
      },
      key: ['user_id', 'id'],
    }),
    table('profiles', {
      columns: {
        id: 'uuid',
        country: 'text',
        subscription_plan: 'text',
        access_valid_until: 'date',
        ai_consent: 'boolean',
        created_at: 'timestamptz',
        updated_at: 'timestamptz',
      },
      defaults: { ai_consent: 'false' },
      key: ['id'],
      user: 'id',
    }),
  ].map((exposed) => [exposed.name, exposed]),
);
