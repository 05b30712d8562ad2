/** Checks the pooler of DATABASE_POOL_URL as a start of the server does. */
import type { Config } from '#server/config/config.ts';
import { checkPooler } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';
import { parseJson } from '#server/parse-json.ts';
import { fault, off, ok, reasonOf, warning, type Check } from '../../check.ts';
import type { OwnerDatabase } from './database-checks.ts';

/** Longer than the search for the primary server, which gives up after 10 s. */
const TIMEOUT_MS = 20_000;
const SEE = 'docs/operations/scaling.md has the settings of PgBouncer.';

export const poolerCheck = ({ url }: OwnerDatabase, { databasePoolUrl }: Pick<Config, 'databasePoolUrl'>): Check => ({
  name: 'pooler',
  timeoutMs: TIMEOUT_MS,
  async run() {
    if (databasePoolUrl === null) return [off('requests reach the database without a pooler')];
    // The check "database" reports why there is no connection.
    if (url === null) return [];
    const warnings: string[] = [];
    const log = createLog('warn', {
      write: (line) => void warnings.push(String((parseJson(line) as { msg?: unknown } | undefined)?.msg)),
    });
    try {
      const { names } = await checkPooler({ ownerUrl: url, poolUrl: databasePoolUrl.reveal(), log });
      if (warnings.length > 0) return warnings.map((text) => warning(text, SEE));
      return [ok(`the pooler keeps requests apart and takes ${names} statements`)];
    } catch (error) {
      return [fault(reasonOf(error), SEE)];
    }
  },
});
