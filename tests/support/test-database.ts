/** A migrated database for one test file: a copy of the run's template, opened like the server's database. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { openDatabase } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { valueTypes } from '#server/database/tables.ts';
import { createLog } from '#server/log.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { checkStatements } from './statements/check-statements.ts';
import { recordStatements, saveStatement } from './statements/record-statements.ts';
import { POOL_URL_VARIABLE, TEMPLATE_URL_VARIABLE } from './test-database-server.ts';

export type TestDatabase = {
  database: Database;
  /** The owner's connection string, as DATABASE_URL would have it. */
  url: string;
  /** A superuser's connections for fixtures and assertions. */
  admin: pg.Pool;
  /** @throws Error if a statement of the product touched rows of users without naming their user. */
  drop(): Promise<void>;
};

type TestDatabaseOptions = {
  /** Bypasses the pooler of `npm run test:pooler`, for tests that need one session for each connection. */
  isDirect?: boolean;
  quickReadLimitMs?: number;
};

export async function createTestDatabase({
  isDirect = false,
  quickReadLimitMs,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const templateUrl = process.env[TEMPLATE_URL_VARIABLE];
  if (!templateUrl) throw new Error('no test server: the test must run with tests/support/test-database-server.ts');
  const template = databaseName(templateUrl);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(templateUrl, `create database ${name} template ${template} strategy file_copy`);
  const url = withDatabase(templateUrl, name);
  const poolUrl = isDirect ? undefined : process.env[POOL_URL_VARIABLE];
  const databasePoolUrl = poolUrl ? new Secret(withDatabase(poolUrl, name)) : null;
  const texts = new Set<string>();
  const opened = await openDatabase({
    config: { databaseUrl: new Secret(url), databasePoolUrl, dataDir: '' },
    log: createLog('error'),
    quickReadLimitMs,
  });
  const database = recordStatements(opened, (statement) => {
    texts.add(statement.text);
    saveStatement(statement);
  });
  const admin = new pg.Pool({ connectionString: url, types: valueTypes(), max: 4 });
  // `drop` terminates connections that are already closing, which emits errors.
  admin.on('error', () => undefined);
  return {
    database,
    url,
    admin,
    async drop() {
      await database.close();
      try {
        await checkStatements(admin, texts);
      } finally {
        await admin.end();
        await onServer(templateUrl, `drop database ${name} with (force)`);
      }
    },
  };
}

const databaseName = (url: string) => /\/([a-z_]+)\?/.exec(url)![1]!;
const withDatabase = (url: string, name: string) => url.replace(/\/[a-z_]+\?/, `/${name}?`);

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

type Server = Pick<TestDatabase, 'url' | 'admin'>;

/** @param work gets the owner's connection string and name; the database is dropped afterwards */
export async function withOrdinaryOwner<T>(
  { url, admin }: Server,
  work: (url: string, owner: string) => Promise<T>,
): Promise<T> {
  const owner = `owner_${randomBytes(6).toString('hex')}`;
  await admin.query(`create role ${owner} login createrole password 'geheim'`);
  await admin.query(`grant anon, authenticated, service_role to ${owner} with admin option`);
  await admin.query(`create database ${owner} owner ${owner}`);
  try {
    return await work(url.replace(/\/\/[^@]*@\/\w+/, `//${owner}:geheim@/${owner}`), owner);
  } finally {
    await admin.query(`drop database ${owner} with (force)`);
    await admin.query(`drop role ${owner}_requests, ${owner}`).catch(() => admin.query(`drop role ${owner}`));
  }
}
