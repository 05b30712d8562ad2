/**
 * `npm run doctor`: checks the whole installation, also while the server runs and when it cannot start
 * (docs/operations/doctor.md). It applies no migration, and creates no database and no key.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openOwnerUrl } from '../backup/command-line.ts';
import { inspectConfig, type Config } from '../config/config.ts';
import { Secret } from '../config/settings-reader.ts';
import { hasCluster } from '../database/embedded/cluster.ts';
import {
  fault,
  off,
  ok,
  reasonOf,
  runChecks,
  warning,
  worstOf,
  type Check,
  type Finding,
  type Result,
  type Status,
} from './check.ts';
import { backupCheck, diskCheck, keysCheck, permissionsCheck } from './files-checks.ts';
import { databaseChecks, describeConnectFailure, poolerCheck, type OwnerDatabase } from './database-checks.ts';
import {
  captchaCheck,
  coachCheck,
  inboundCheck,
  mailCheck,
  paypalCheck,
  signInCheck,
  smsCheck,
} from './provider-checks.ts';
import { publicUrlChecks, type ProbeAccess } from './public-url-checks.ts';
import { createLog } from '../log.ts';
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import { readDatabaseIdentity } from '../auth/admin/connection.ts';
import { keySource, NoKeysError, readKeys } from '../auth/keys/key-file.ts';
import { PROBE_ROLE, signServiceToken } from '../auth/keys/service-token.ts';
import { loadSigningKeys } from '../auth/keys/signing-keys.ts';
import { systemClock } from '../clock.ts';
import type { AsService, Statements } from '../database/database.ts';
import { requestConnection } from '../database/roles.ts';

// Signs a token of a few minutes with the keys of this installation, to ask the server behind PUBLIC_URL.

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

const USAGE = `Usage: npm run doctor -- [options]

Checks settings, database, disk, keys, backups, PUBLIC_URL and every external service that is set up.

  --mail ADDRESS   also send a mail to this address
  --only NAME      only this check; may be repeated
  --json           print JSON

Exit codes: 0 all is well, 1 warnings, 2 faults.`;

const now = (): Date => new Date();

type Environment = Readonly<Record<string, string | undefined>>;
type Diagnosis = { results: Result[]; text: string; exitCode: number };

/** @throws Error with the usage for wrong arguments */
export async function runDoctor(args: readonly string[], env?: Environment): Promise<Diagnosis> {
  const { mail, only, json } = readArguments(args);
  const { config, problems } = inspectConfig(env);
  const { database, close } = await openOwnerDatabase(config);
  try {
    const checks: Check[] = [
      settingsCheck(config, problems),
      ...databaseChecks(database, config, now),
      poolerCheck(database, config),
      diskCheck(config),
      permissionsCheck(config),
      keysCheck(config),
      backupCheck(config, now),
      ...publicUrlChecks(config, createProbeAccess(config, database), now),
      mailCheck(config, mail ?? null),
      inboundCheck(config),
      paypalCheck(config),
      coachCheck(config),
      smsCheck(config),
      captchaCheck(config),
      signInCheck(config),
    ];
    const unknown = only?.find((name) => !checks.some((check) => check.name === name));
    if (unknown !== undefined) {
      throw new Error(`There is no check "${unknown}", only ${checks.map(({ name }) => name).join(', ')}.\n\n${USAGE}`);
    }
    const results = await runChecks(checks.filter(({ name }) => only === undefined || only.includes(name)));
    const redact = createRedactor(config);
    return {
      results,
      text: redact(json ? formatJson(results) : formatText(results)),
      exitCode: EXIT_CODES[worstResult(results)],
    };
  } finally {
    await close();
  }
}

const settingsCheck = (config: Config, problems: readonly string[]): Check => ({
  name: 'settings',
  run() {
    if (problems.length > 0) {
      return Promise.resolve(
        problems.map((problem) => fault(problem, 'The server does not start: fix it in .env or the environment.')),
      );
    }
    if (config.environment === 'production') return Promise.resolve([ok('valid, for production')]);
    const sandbox = config.sandbox.on ? ', and the sandbox simulates every service that has no settings' : '';
    return Promise.resolve([
      config.sandbox.on
        ? ok(`valid, for development${sandbox}`)
        : warning(
            'NODE_ENV is not production',
            'Set NODE_ENV=production: then settings that must not be forgotten are required.',
          ),
    ]);
  },
});

type OpenedDatabase = { database: OwnerDatabase; close(): Promise<void> };

async function openOwnerDatabase(config: Config): Promise<OpenedDatabase> {
  const { databaseUrl, dataDir } = config;
  const closed = (problem: Finding): OpenedDatabase => ({
    database: { url: null, problem },
    close: () => Promise.resolve(),
  });
  if (databaseUrl === null && !hasCluster(dataDir)) {
    return closed(off(`there is no database in ${dataDir} yet: the first start makes it`));
  }
  try {
    const server = await openOwnerUrl(config, { log: createLog('silent'), whenRunning: 'join' });
    return { database: { url: server.url, problem: null }, close: () => server.close() };
  } catch (error) {
    if (databaseUrl !== null) return closed(describeConnectFailure(error));
    return closed(
      fault(
        `the embedded database does not start: ${reasonOf(error)}`,
        'Look at the log that the message names, at the free space of its disk and at the owner of DATA_DIR.',
      ),
    );
  }
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        mail: { type: 'string' },
        only: { type: 'string', multiple: true },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    if (!values.help) return values;
  } catch (error) {
    throw new Error(`${reasonOf(error)}\n\n${USAGE}`, { cause: error });
  }
  throw new Error(USAGE);
}

const EXIT_CODES: Readonly<Record<Status, number>> = { off: 0, ok: 0, warning: 1, fault: 2 };

const NAME_COLUMN = 13;
const STATUS_COLUMN = 9;

const worstResult = (results: readonly Result[]): Status => worstOf(results.flatMap(({ findings }) => findings));

export function formatText(results: readonly Result[]): string {
  const indent = ' '.repeat(STATUS_COLUMN + NAME_COLUMN);
  const lines = results.flatMap(({ name, findings }) =>
    findings.flatMap(({ status, text, fix }) => [
      `${status.padEnd(STATUS_COLUMN)}${name.padEnd(NAME_COLUMN)}${text}`,
      ...(fix === undefined ? [] : [`${indent}-> ${fix}`]),
    ]),
  );
  const count = (wanted: Status): string => {
    const { length } = results.flatMap(({ findings }) => findings).filter(({ status }) => status === wanted);
    return `${length} ${wanted}${length === 1 ? '' : 's'}`;
  };
  return [...lines, '', `${count('fault')}, ${count('warning')}`].join('\n');
}

const formatJson = (results: readonly Result[]): string =>
  JSON.stringify({ status: worstResult(results), checks: results }, null, 2);

/**
 * Returns a function that replaces the secrets of the settings in a text. Threat: an error of a library quotes an
 * address with its password, and reports are pasted into tickets.
 */
export function createRedactor(settings: object): (text: string) => string {
  const secrets = new Set<string>();
  collect(settings, secrets);
  const ordered = [...secrets].filter(({ length }) => length >= 4).toSorted((one, other) => other.length - one.length);
  return (text) => ordered.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

function collect(value: unknown, secrets: Set<string>): void {
  if (value instanceof Secret) {
    const text = value.reveal();
    secrets.add(text);
    const url = URL.parse(text.replace('@/', '@localhost/'));
    if (url !== null && url.password !== '') {
      secrets.add(url.password);
      secrets.add(decodeURIComponent(url.password));
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collect(part, secrets);
  }
}

if (import.meta.main) {
  if (existsSync('.env')) process.loadEnvFile('.env');
  try {
    const { text, exitCode } = await runDoctor(process.argv.slice(2));
    process.stdout.write(`${text}\n`);
    process.exitCode = exitCode;
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 2;
  }
}
