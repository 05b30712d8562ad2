/**
 * A typed query builder that never executes: compiled queries run through `asUser` or `asService`, so every statement
 * has an explicit identity.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
} from 'kysely';
import type { Tables } from './tables.ts';
import type { Statements } from './database.ts';

export const queryBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

// Compiles a query of the query builder once, for frequent requests: building its text each time would cost CPU time.

export type PreparedQuery<Values extends object, Row> = {
  readonly text: string;
  /** In the order of `$1`, `$2` and so on. */
  bind(values: Values): unknown[];
  run(statements: Statements, values: Values): Promise<Row[]>;
};

/**
 * @param build is called once, with a marker for each value: it may pass values on, and must not look at them
 */
export function prepareQuery<Values extends object, Row>(
  build: (values: Values) => { compile(): CompiledQuery<Row> },
): PreparedQuery<Values, Row> {
  const names = new Map<unknown, keyof Values>();
  const markers = new Proxy<Record<string, object>>(
    {},
    {
      get(known, name: string) {
        const marker = (known[name] ??= { value: name });
        names.set(marker, name as keyof Values);
        return marker;
      },
    },
  );
  const { sql, parameters } = build(markers as unknown as Values).compile();
  const bind = (values: Values): unknown[] =>
    parameters.map((parameter) => (names.has(parameter) ? values[names.get(parameter)!] : parameter));
  return {
    text: sql,
    bind,
    run: async (statements, values) => (await statements.statement<Row>(sql, bind(values))).rows,
  };
}
