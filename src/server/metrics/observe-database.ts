/** Reports the errors of a database's statements, for the metrics. The statements themselves are unchanged. */
import { isConnectionFailure, sqlStateOf } from '../database/database-error.ts';
import type { AsService, AsUser, Database, Statements } from '../database/database.ts';

/** @param onError gets the class of the SQLSTATE (`23`: constraints), or `connection` */
export function observeDatabase(database: Database, onError: (errorClass: string) => void): Database {
  const report = (error: unknown): never => {
    const state = sqlStateOf(error);
    if (state !== null) onError(state.slice(0, 2));
    else if (isConnectionFailure(error)) onError('connection');
    throw error;
  };
  const observed = <As extends Statements>(statements: As): As =>
    ({
      run: (query: Parameters<Statements['run']>[0]) => statements.run(query).catch(report),
      statement: (text: string, values: readonly unknown[]) => statements.statement(text, values).catch(report),
    }) as Statements as As;
  return {
    ...database,
    asUser: (...whose) => observed<AsUser>(database.asUser(...whose)),
    asService: (reason) => observed<AsService>(database.asService(reason)),
    // An error inside a transaction ends it, so it is reported once, with the transaction.
    transactAsUser: (identity, work) => database.transactAsUser(identity, work).catch(report),
    transactAsService: (reason, work) => database.transactAsService(reason, work).catch(report),
  };
}
