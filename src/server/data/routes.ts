/**
 * The data wire: what PostgREST answers to postgrest-js, for the tables of `exposed-tables.ts` (wire-contract 13).
 *
 * parse -> clean -> one statement as the caller -> respond. What a caller may see or change is decided by PostgreSQL
 * (row-level security, column grants), never here.
 */
import { Hono } from 'hono';
import type { Context } from 'hono';
import { AccessTokenError } from '../auth/access-tokens.ts';
import type { AccessTokens } from '../auth/access-tokens.ts';
import type { Database, Statements } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { callerHasLeft } from '../http/caller-left.ts';
import { callerOf } from '../http/caller.ts';
import type { Caller } from '../http/caller.ts';
import type { Logger } from '../log.ts';
import { answerFor, loggable } from './database-error.ts';
import { dataError } from './errors.ts';
import type { DataError } from './errors.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import type { ExposedTable } from './exposed-tables.ts';
import { readRequest } from './read-request.ts';
import type { Reading, Writing } from './read-request.ts';
import { ALLOWED_METHODS, answerWith, answerWithError, checkSingle } from './respond.ts';
import type { Answer } from './to-sql.ts';
import { createTurns } from './turns.ts';

type DataDeps = {
  config: { publishableKey: string };
  database: Database;
  accessTokens: Pick<AccessTokens, 'verify'>;
  log: Logger;
};

export function dataRoutes({ config, database, accessTokens, log }: DataDeps): Hono<AppEnv> {
  const { publishableKey } = config;
  const routes = new Hono<AppEnv>();
  const turns = createTurns();

  routes.all('/:table', async (context) => {
    let caller: Caller | null = null;
    try {
      caller = await callerOf(context.req.header('authorization'), { accessTokens, publishableKey });
      if (caller.userId !== null) context.set('userId', caller.userId);
      const request = await readRequest(context.req, tableNamed(context.req.param('table')));
      if (request === 'options') return allowedMethods();
      const answer = await (request.costly ? inTurn(request, caller) : carryOut(request, caller));
      return answerWith(request, answer);
    } catch (error) {
      return answerWithError(explain(error, caller, context));
    }
  });
  // No route of its own for functions: beside `/:table` it would cost the whole app Hono's fast router.
  routes.all('*', (context) => {
    const [, name] = /\/rpc\/([^/]+)$/.exec(context.req.path) ?? [];
    if (name === undefined) return answerWithError(dataError('PGRST125'));
    const message = `Could not find the function public.${name.slice(0, 100)} in the schema cache`;
    return answerWithError(dataError('PGRST202', { message }));
  });

  /** A guest reads nothing, and nothing costs nothing. */
  async function inTurn(request: Reading | Writing, caller: Caller): Promise<Answer> {
    if (caller.userId === null) return carryOut(request, caller);
    const end = await turns.take(caller.userId);
    try {
      return await carryOut(request, caller);
    } finally {
      end();
    }
  }

  /** A write that must touch exactly one row is a transaction, because the wrong number of rows takes it back. */
  async function carryOut(request: Reading | Writing, { identity }: Caller): Promise<Answer> {
    const { sql, single } = request;
    if (sql === null) {
      checkSingle(single, 0);
      return request.preferences.representation ? { body: '[]', amount: 0 } : { amount: 0 };
    }
    const run = async (statements: Statements): Promise<Answer> => {
      const { rows, rowCount } = await statements.statement<Answer>(sql.text, sql.values);
      const answer = request.answersRow && rows[0] ? rows[0] : { amount: rowCount };
      checkSingle(single, answer.amount);
      return answer;
    };
    const reading = request.method === 'GET' || request.method === 'HEAD';
    return single && !reading ? database.transactAsUser(identity, run) : run(database.asUser(identity));
  }

  function explain(error: unknown, caller: Caller | null, context: Context<AppEnv>): DataError {
    if (error instanceof AccessTokenError) return tokenProblem(error);
    const answer = answerFor(error, caller?.userId === null);
    // What we refused ourselves is no fault: a line with a stack for each would only feed a storm.
    if (answer && (answer.status < 500 || answer === error)) return answer;
    if (answer && callerHasLeft(context)) return answer;
    log.error({ ...loggable(error), method: context.req.method }, 'data request failed');
    return answer ?? dataError('XX000');
  }

  return routes;
}

function tableNamed(name: string): ExposedTable {
  const table = EXPOSED_TABLES.get(name);
  if (table) return table;
  const message = `Could not find the table 'public.${name.slice(0, 100)}' in the schema cache`;
  throw dataError('PGRST205', { message });
}

function tokenProblem({ reason }: AccessTokenError): DataError {
  switch (reason) {
    case 'malformed':
      return dataError('PGRST301', { message: 'The access token could not be read' });
    case 'bad_signature':
      return dataError('PGRST301', { message: 'No suitable key or wrong key type' });
    case 'expired':
      return dataError('PGRST303', { message: 'JWT expired' });
    case 'not_yet_valid':
      return dataError('PGRST303', { message: 'JWT not yet valid' });
    case 'session_ended':
      return dataError('PGRST303', { message: 'The session has ended' });
  }
}

const allowedMethods = (): Response => new Response(null, { status: 200, headers: { allow: ALLOWED_METHODS } });
