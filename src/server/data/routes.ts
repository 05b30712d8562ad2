/**
 * The routes of the data API: a subset of PostgREST, without functions and embedded tables, for the tables of
 * `exposed-tables.ts` (docs/specification/api.md 19).
 *
 * parse -> sanitize -> one statement as the caller -> respond. PostgreSQL decides about access (row-level security,
 * column grants). One of its rules is repeated here, to reject a request before the work: a guest cannot write.
 */
import { Hono, type Context } from 'hono';
import { AccessTokenError, type AccessTokens } from '../auth/keys/access-tokens.ts';
import type { Database, Result, StatementOptions, Statements } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { isClientDisconnected } from '../http/error-response.ts';
import { authenticateRequest, type Caller } from '../http/authenticate.ts';
import { BodyTooLargeError, readText } from '../http/limit-body.ts';
import type { Logger } from '../log.ts';
import { createLogSanitizer } from './sanitize-log.ts';
import { isBulk } from './query-cost.ts';
import { redactRow } from '../database/database-error.ts';
import { toDataError, dataError, type DataError } from './errors.ts';
import { EXPOSED_TABLES, type ExposedTable } from './exposed-tables.ts';
import { checkSchema } from './parse-headers.ts';
import {
  buildWrite,
  countSql,
  isReadRequest,
  parseRequest,
  type ReadRequest,
  type WriteRequest,
} from './read-request.ts';
import { ALLOWED_METHODS, toResponse, toErrorResponse, checkSingle } from './respond.ts';
import { MAX_TEXT_BYTES, type Item, type Sql, type QueryResult } from './to-sql.ts';
import type { WriteQuota } from './write-quota.ts';
import { runLimited, type Limits } from '../load/concurrency-limiter.ts';
import { BusyError } from '../load/request-context.ts';
import type { Limiters } from '../load/limiters.ts';

type DataDeps = {
  config: { publishableKey: string };
  database: Database;
  accessTokens: Pick<AccessTokens, 'verify'>;
  limiters: Limiters;
  writeQuota: WriteQuota;
  log: Logger;
};

/** Few users at a time, with one request each, so that costly reads leave connections to saves. */
const COSTLY: Limits = { maxRunning: 4, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };
/**
 * Lower limits than for costly reads: a bulk write is also parsed and sanitized here, and holds its body in memory
 * while it is queued.
 */
const BULK_WRITES: Limits = { maxRunning: 2, maxPerClient: 1, maxQueued: 50, maxQueuedPerClient: 4 };
const SANITIZER: Limits = { maxRunning: 1, maxQueued: 200 };

const TOO_LONG = `An answer can hold ${MAX_TEXT_BYTES / 2 ** 20} MB of texts at most. Please ask for fewer rows at once`;

export function dataRoutes({ config, database, accessTokens, limiters, writeQuota, log }: DataDeps): Hono<AppEnv> {
  const { publishableKey } = config;
  const routes = new Hono<AppEnv>();
  const sanitize = createLogSanitizer(limiters.createLimiter('sanitizer', SANITIZER));
  const costlyReadLimiter = limiters.createLimiter('costly_reads', COSTLY);
  const bulkWriteLimiter = limiters.createLimiter('bulk_writes', BULK_WRITES);

  routes.all('/:table', async (context) => {
    let caller: Caller | null = null;
    try {
      caller = await authenticateRequest(context, { accessTokens, publishableKey });
      if (caller.userId !== null) context.set('userId', caller.userId);
      checkSchema(context.req);
      const table = findTable(context.req.param('table'));
      context.set('route', `/rest/v1/${table.name}`);
      const request = parseRequest(context.req, table, caller.userId);
      if (request === 'options') return optionsResponse();
      const result = await (isReadRequest(request) ? read(request, caller) : write(request, caller, context));
      return toResponse(request, result);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw error;
      return toErrorResponse(describeError(error, caller, context));
    }
  });
  // Not a route `/rpc/:name`: beside `/:table` it would make Hono fall back to a slower router for the whole app.
  routes.all('*', (context) => {
    const [, name] = /\/rpc\/([^/]+)$/.exec(context.req.path) ?? [];
    if (name === undefined) return toErrorResponse(dataError('PGRST125'));
    const message = `Could not find the function public.${name.slice(0, 100)} in the schema cache`;
    return toErrorResponse(dataError('PGRST202', { message }));
  });

  /** A guest's costly read needs no limiter: row-level security hides every row. */
  function read(request: ReadRequest, caller: Caller): Promise<QueryResult> {
    const run = () => execute(request, request.sql, caller, { isQuickRead: request.quick });
    return request.costly && caller.userId !== null ? runLimited(costlyReadLimiter, run) : run();
  }

  /**
   * Reads the body only for a signed-in user and before it acquires the bulk limiter, so a slow sender delays no other
   * user. The bulk limiter covers parsing, sanitizing and storing.
   */
  async function write(request: WriteRequest, caller: Caller, context: Context<AppEnv>): Promise<QueryResult> {
    const { table } = request;
    const { userId } = caller;
    if (userId === null)
      throw dataError('42501', { message: `permission denied for table ${table.name}`, status: 401 });
    if (request.method !== 'DELETE') writeQuota.check(userId);
    const body = request.method === 'DELETE' ? '' : await readText(context);
    // Threat: another process has just ended the session, for example because the owner has claimed the account, and
    // the thief of the session turns the coach and the mails on again. Saves of logs skip this check.
    if (table.log === null) await context.get('authenticateAgain')?.({ isFresh: true });
    const isCostly = request.costly || isBulk(body);
    const isQuickWrite = !isCostly && request.method === 'PATCH' && table.log !== null;
    const run = async () => {
      const built = await buildWrite(request, body, sanitize, userId);
      if (built !== null && built.bytes > 0) await spend(request, built.bytes, caller, userId);
      return execute(request, built?.sql ?? null, caller, { isQuickWrite });
    };
    return isCostly ? runLimited(bulkWriteLimiter, run) : run();
  }

  async function spend(request: WriteRequest, bytes: number, { identity }: Caller, userId: string): Promise<void> {
    // Threat: a PATCH writes its text to each row that it matches. A costly one may match many.
    const hasManyRows = request.method === 'PATCH' && request.costly;
    if (!hasManyRows) return writeQuota.spend(userId, bytes);
    const { text, values } = countSql(request, userId);
    const { rows } = await database.asUser(identity).statement<QueryResult>(text, values);
    return writeQuota.spend(userId, bytes * rows[0]!.amount);
  }

  /** A wrong number of rows, or too long texts, roll a write back, so such a write runs in a transaction. */
  async function execute(
    request: ReadRequest | WriteRequest,
    sql: Sql | null,
    { identity }: Caller,
    options: StatementOptions,
  ): Promise<QueryResult> {
    const { single } = request;
    if (sql === null) {
      checkSingle(single, 0);
      return request.preferences.representation ? { body: '[]', amount: 0 } : { amount: 0 };
    }
    const run = async (statements: Statements): Promise<QueryResult> => {
      const result = sql.returnsItems
        ? joinItems(await statements.statement<Item>(sql.text, sql.values))
        : await runForResult(statements, sql, request.returnsRow);
      if (result.isTooLong) throw dataError('54000', { message: TOO_LONG });
      checkSingle(single, result.amount);
      return result;
    };
    const mayRollBack = !isReadRequest(request) && (single || (request.costly && request.returnsRow));
    return mayRollBack ? database.transactAsUser(identity, run) : run(database.asUser(identity, options));
  }

  function describeError(error: unknown, caller: Caller | null, context: Context<AppEnv>): DataError {
    if (error instanceof AccessTokenError) return toTokenError(error);
    const known = toDataError(error, caller?.userId === null);
    // Rejections are not logged: they are not errors of the server, and stack traces would add load to a burst.
    if (known && (known.status < 500 || known === error || error instanceof BusyError)) return known;
    if (known && isClientDisconnected(context)) return known;
    log.error({ ...redactRow(error), method: context.req.method }, 'data request failed');
    return known ?? dataError('XX000');
  }

  return routes;
}

const joinItems = ({ rows }: Result<Item>): QueryResult => ({
  body: `[${rows.map(({ item }) => item).join(',')}]`,
  amount: rows.length,
});

async function runForResult(statements: Statements, { text, values }: Sql, returnsRow: boolean): Promise<QueryResult> {
  const { rows, rowCount } = await statements.statement<QueryResult>(text, values);
  return returnsRow && rows[0] ? rows[0] : { amount: rowCount };
}

function findTable(name: string): ExposedTable {
  const table = EXPOSED_TABLES.get(name);
  if (table) return table;
  const message = `Could not find the table 'public.${name.slice(0, 100)}' in the schema cache`;
  throw dataError('PGRST205', { message });
}

function toTokenError({ reason }: AccessTokenError): DataError {
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
    case 'second_step_missing':
      return dataError('42501', { message: 'Two-step verification is not complete' });
  }
}

const optionsResponse = (): Response => new Response(null, { status: 200, headers: { allow: ALLOWED_METHODS } });
