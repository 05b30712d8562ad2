/** Signs a token of a few minutes with the keys of this installation, to ask the server behind PUBLIC_URL. */
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import { readDatabaseIdentity } from '../auth/admin/connection.ts';
import { keySource, NoKeysError, readKeys } from '../auth/keys/key-source.ts';
import { PROBE_ROLE, signServiceToken } from '../auth/keys/service-token.ts';
import { loadSigningKeys } from '../auth/keys/signing-keys.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Statements } from '../database/database.ts';
import { requestConnection } from '../database/roles.ts';
import { createLog } from '../log.ts';
import { fault, off, reasonOf, type Finding } from './check.ts';
import type { OwnerDatabase } from './database-checks.ts';
import type { ProbeAccess } from './public-url-checks.ts';

const TOKEN_DAYS = 5 / (24 * 60);
const CONNECT_TIMEOUT_MS = 5_000;
const UNDEFINED_TABLE = '42P01';

type AccessConfig = Pick<Config, 'publicUrl' | 'dataDir'> & { auth: Pick<Config['auth'], 'signingKeyFile'> };

export const createProbeAccess =
  ({ publicUrl, dataDir, auth }: AccessConfig, { url }: OwnerDatabase) =>
  async (): Promise<ProbeAccess | Finding> => {
    if (url === null) return off('not checked without a database');
    const client = new pg.Client({ ...requestConnection(url), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('set role service_role');
    } catch {
      // The checks of the database say why.
      return off('not checked without the login for requests');
    }
    const database = { asService: () => asService(client) };
    const { signingKeyFile } = auth;
    try {
      // Before `loadSigningKeys`, which would create missing keys.
      await readKeys(keySource({ signingKeyFile }, database));
      const keys = await loadSigningKeys({
        signingKeyFile,
        dataDir,
        database,
        clock: systemClock,
        log: createLog('silent'),
      });
      const { token } = await signServiceToken(keys, {
        publicUrl,
        days: TOKEN_DAYS,
        now: systemClock.now(),
        role: PROBE_ROLE,
      });
      return { token, database: await readDatabaseIdentity(database.asService()) };
    } catch (error) {
      const isMissing = error instanceof NoKeysError || (error as { code?: string }).code === UNDEFINED_TABLE;
      if (isMissing) return off('not checked: there are no signing keys yet');
      return fault(
        `the signing keys cannot be used: ${reasonOf(error)}`,
        'Bring the keys back from a backup (docs/operations/backup.md).',
      );
    } finally {
      await client.end();
    }
  };

/** One statement at a time on a connection that acts as the service. */
function asService(client: pg.Client): AsService {
  const statements: Statements = {
    async run<Row>(query: { compile(): CompiledQuery<Row> }) {
      const { sql, parameters } = query.compile();
      return (await client.query(sql, [...parameters])).rows as Row[];
    },
    async statement(text, values) {
      const { rows, rowCount } = await client.query(text, [...values]);
      return { rows, rowCount: rowCount ?? 0 };
    },
  };
  return statements as AsService;
}
