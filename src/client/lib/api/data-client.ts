/**
 * The client of /rest/v1, typed with the product's tables: the part of PostgREST that the screens use. Loads as a
 * separate chunk, which the sign-in screens do not need.
 */
import { createContext, use } from 'react';
import type { ApiRow } from '#domain/database-rows.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import type { Entry, Profile, DeletedDay, EntryVersion } from '#domain/log/entry.ts';
import { fetchPrefetched } from '../boot/prefetch.ts';
import type { Supabase } from './supabase.ts';

/** An attempt to buy a year of the premium plan, whatever its status. */
export type Payment = ApiRow<'payments'>;

/** A change of a user's plan. A paid year runs from `valid_from` to `access_valid_until`. */
export type PlanChange = ApiRow<'plan_changes'>;

type ReadOnly<Row> = { Row: Row; Insert: never; Update: never };

type Tables = {
  profiles: { Row: Profile; Insert: never; Update: Partial<Pick<Profile, 'country' | 'ai_consent'>> };
  entries: {
    Row: Entry;
    Insert: Pick<Entry, 'user_id' | 'id' | 'date' | 'content'>;
    Update: Partial<Pick<Entry, 'content' | 'date'>>;
  };
  preferences: {
    Row: Preferences & { user_id: string };
    Insert: Partial<Preferences> & { user_id: string };
    Update: never;
  };
  time_off: {
    Row: ApiRow<'time_off'>;
    Insert: Pick<ApiRow<'time_off'>, 'user_id' | 'id' | 'first_day' | 'last_day'>;
    Update: never;
  };
  entry_dates: ReadOnly<ApiRow<'entry_dates'>>;
  entry_versions: ReadOnly<EntryVersion>;
  deleted_days: ReadOnly<DeletedDay>;
  payments: ReadOnly<Payment>;
  plan_changes: ReadOnly<PlanChange>;
  analyses: ReadOnly<ApiRow<'analyses'>>;
  reviews: ReadOnly<ApiRow<'reviews'>>;
  kept_reviews: ReadOnly<ApiRow<'kept_reviews'>>;
  documents: {
    Row: ApiRow<'documents'>;
    Insert: Pick<ApiRow<'documents'>, 'user_id' | 'id' | 'title' | 'first_day' | 'last_day' | 'content'>;
    Update: Partial<Pick<ApiRow<'documents'>, 'title' | 'first_day' | 'last_day' | 'content'>>;
  };
  push_subscriptions: ReadOnly<ApiRow<'push_subscriptions'>>;
  document_links: ReadOnly<ApiRow<'document_links'>>;
};
type Table = Tables[keyof Tables];
type Fetch = typeof fetch;

/** `code`: of the data API (docs/specification/api.md), empty if the answer is not the API's or did not arrive. */
export class DataError extends Error {
  readonly code: string;
  constructor({ code, message }: { code?: string; message?: string }) {
    super(message ?? '');
    this.code = code ?? '';
  }
}

/** The code of the error for a read whose answer would have too many texts. */
export const ANSWER_TOO_LONG = '54000';

/** `status` is 0 without an answer. */
type Failed = { data: null; error: DataError; status: number };
type Sent<Data, Failure> = { data: Data; error: null; status: number } | Failure;
export type Answer<Data> = Sent<Data, Failed>;

type Names<Columns extends string> = Columns extends `${infer First}, ${infer Rest}` ? First | Names<Rest> : Columns;
type Selected<Row, Columns extends string> = Columns extends '*' ? Row : Pick<Row, Names<Columns> & keyof Row>;
type Column<T extends Table> = keyof T['Row'] & string;
type Value = string | number;

/** One request, which `await` sends. `Failure` is `never` after `throwOnError`. */
class Query<T extends Table, Data, Failure = Failed> implements PromiseLike<Sent<Data, Failure>> {
  readonly #url: URL;
  readonly #send: Fetch;
  readonly #init: RequestInit & { headers: Record<string, string> } = { headers: {} };
  #isSingle = false;
  #throws = false;

  constructor(url: string, send: Fetch) {
    this.#url = new URL(url);
    this.#send = send;
  }

  /** Names the columns of the rows to return, also for a write. */
  select<const Columns extends string>(
    columns: Names<Columns> extends Column<T> | '*' ? Columns : never,
  ): Query<T, Selected<T['Row'], Columns>[]> {
    if (this.#init.method) this.#init.headers['prefer'] = 'return=representation';
    return this.#param('select', columns.replaceAll(' ', '')) as never;
  }
  insert(row: T['Insert']): Query<T, null> {
    return this.#write('POST', row);
  }
  /** Inserts the row, or changes the columns of the one with the same key. */
  upsert(row: T['Insert']): Query<T, null> {
    this.#init.headers['prefer'] = 'resolution=merge-duplicates';
    return this.#write('POST', row);
  }
  update(columns: T['Update']): Query<T, null> {
    return this.#write('PATCH', columns);
  }
  delete(): Query<T, null> {
    return this.#write('DELETE');
  }

  eq(column: Column<T>, value: Value): this {
    return this.#param(column, `eq.${value}`);
  }
  match(values: { [C in Column<T>]?: Value }): this {
    for (const [column, value] of Object.entries(values)) this.#param(column, `eq.${value as Value}`);
    return this;
  }
  gt(column: Column<T>, value: Value): this {
    return this.#param(column, `gt.${value}`);
  }
  gte(column: Column<T>, value: Value): this {
    return this.#param(column, `gte.${value}`);
  }
  lte(column: Column<T>, value: Value): this {
    return this.#param(column, `lte.${value}`);
  }
  /** `values` must contain no comma and no parenthesis: days and ids have none. */
  in(column: Column<T>, values: readonly string[]): this {
    return this.#param(column, `in.(${values.join()})`);
  }
  isNotNull(column: Column<T>): this {
    return this.#param(column, 'not.is.null');
  }
  /** `conditions` is in the syntax of PostgREST. */
  or(conditions: string): this {
    return this.#param('or', `(${conditions})`);
  }
  /** A further call orders the rows that are equal so far. */
  order(column: Column<T>, { ascending }: { ascending: boolean } = { ascending: true }): this {
    const before = this.#url.searchParams.get('order');
    this.#url.searchParams.set(
      'order',
      `${before === null ? '' : `${before},`}${column}.${ascending ? 'asc' : 'desc'}`,
    );
    return this;
  }
  limit(rows: number): this {
    return this.#param('limit', String(rows));
  }
  abortSignal(signal: AbortSignal): this {
    this.#init.signal = signal;
    return this;
  }
  /** The first row; null without one. */
  maybeSingle(
    this: Query<T, unknown[], Failure>,
  ): Query<T, (Data extends (infer Row)[] ? Row : never) | null, Failure> {
    (this as Query<T, unknown, Failure>).#isSingle = true;
    return this as never;
  }
  throwOnError(): Query<T, Data, never> {
    this.#throws = true;
    return this as never;
  }

  /** Each call sends the request. */
  // oxlint-disable-next-line unicorn/no-thenable -- a query is sent by `await`
  then<Next = Sent<Data, Failure>, Caught = never>(
    onAnswer?: ((answer: Sent<Data, Failure>) => Next | PromiseLike<Next>) | null,
    onError?: ((error: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Next | Caught> {
    return (this.#ask() as Promise<Sent<Data, Failure>>).then(onAnswer, onError);
  }

  async #ask(): Promise<Answer<Data>> {
    let status = 0;
    try {
      const response = await this.#send(this.#url.href, this.#init);
      ({ status } = response);
      const text = await response.text();
      const body = readJson(text);
      if (!response.ok) throw new DataError(typeof body === 'object' && body !== null ? body : { message: text });
      // A proxy or a captive portal answers with status 200 and a body of its own.
      const hasAnswer = this.#url.searchParams.has('select') ? Array.isArray(body) : body === null;
      if (!hasAnswer) throw new DataError({ message: text });
      const data = (this.#isSingle ? ((body as unknown[])[0] ?? null) : body) as Data;
      return { data, error: null, status };
    } catch (error) {
      if (this.#throws) throw error;
      const { message } = error as Error;
      return { data: null, error: error instanceof DataError ? error : new DataError({ message }), status };
    }
  }

  #param(name: string, value: string): this {
    this.#url.searchParams.append(name, value);
    return this;
  }
  #write(method: string, body?: object): Query<T, null> {
    this.#init.method = method;
    this.#init.headers['content-type'] = 'application/json';
    if (body) this.#init.body = JSON.stringify(body);
    return this as never;
  }
}

/** Null for no body, as a write answers that returns no rows; undefined for a text that is not JSON, as of a proxy. */
function readJson(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type DataClient = {
  from: <Name extends keyof Tables>(table: Name, options?: { fetch: Fetch }) => Query<Tables[Name], never>;
};

export const createDataClient = ({ apiUrl, withSession }: Pick<Supabase, 'apiUrl' | 'withSession'>): DataClient => ({
  from: (table, { fetch } = { fetch: fetchPrefetched }) => new Query(`${apiUrl}/rest/v1/${table}`, withSession(fetch)),
});

export const DataContext = createContext<DataClient | null>(null);

/**
 * Returns the data client. A request that must outlive the page passes its own fetch:
 * `data.from('entries', { fetch: (url, init) => fetch(url, { ...init, keepalive: true }) })`.
 */
export function useData(): DataClient {
  const data = use(DataContext);
  if (!data) throw new Error('useData needs a DataContext above it');
  return data;
}
