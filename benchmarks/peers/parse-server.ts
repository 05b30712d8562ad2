/** Parse Server: a class `Entry` with an access list for each row, which names its owner. */
import { randomBytes } from 'node:crypto';
import { someDay } from '../http/journal-requests.ts';
import { startProcess } from '../processes.ts';
import { createLogHtml, DAYS_EACH } from '../seeded-database.ts';
import { installPackages } from './install.ts';
import { requestJson, rowsByDate, runSql, type Peer, type PeerPerson } from './peer.ts';

const PACKAGES = { express: '5.2.1', 'parse-server': '9.10.0' };
const APP = { 'x-parse-application-id': 'journal' };

const WRITE_YEARS = `
  insert into "Entry" ("objectId", "createdAt", "updatedAt", owner, date, content, _rperm, _wperm)
  select "objectId" || 'd' || days, now(), now(), "objectId", to_char(current_date - days, 'YYYY-MM-DD'), $1,
         array["objectId"], array["objectId"]
    from "_User", generate_series(0, $2::int - 1) days`;

/** @param databaseUrl an empty database, with the rights of its owner */
export async function startParseServer(databaseUrl: string, count: number): Promise<Peer> {
  const MODULES = await installPackages('parse-server', PACKAGES);
  const MASTER_KEY = randomBytes(32).toString('hex');
  const server = await startProcess(
    'benchmarks/peers/servers/parse-server.mjs',
    { DATABASE_URL: databaseUrl, MODULES, MASTER_KEY },
    '/parse/health',
  );
  const { url } = server;
  await requestJson('POST', `${url}/parse/schemas/Entry`, entryClass(), { ...APP, 'x-parse-master-key': MASTER_KEY });
  const owners: { id: string; token: string }[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = { username: `person-${index}`, password: 'correct horse battery' };
    const user = await requestJson<{ objectId: string; sessionToken: string }>(
      'POST',
      `${url}/parse/users`,
      account,
      APP,
    );
    owners.push({ id: user.objectId, token: user.sessionToken });
  }
  await runSql(databaseUrl, WRITE_YEARS, [createLogHtml(0), DAYS_EACH]);
  await runSql(databaseUrl, 'create unique index entry_of_owner on "Entry" (owner, date)', []);
  const headersOf = (token: string) => ({ ...APP, 'x-parse-session-token': token });
  const where = (condition: object) => `where=${encodeURIComponent(JSON.stringify(condition))}`;
  const ownerOf = new Map(
    owners.map(({ id, token }) => [token, { __type: 'Pointer', className: '_User', objectId: id }]),
  );
  const people: PeerPerson[] = owners.map(({ id, token }) => ({ token, rows: rowsByDate((days) => `${id}d${days}`) }));
  return {
    name: `Parse Server ${PACKAGES['parse-server']}`,
    url,
    pids: [server.pid],
    people,
    readDay: ({ token }, index) => ({
      path: `/parse/classes/Entry?limit=1&${where({ owner: ownerOf.get(token), date: someDay(index) })}`,
      headers: headersOf(token),
    }),
    listDates: ({ token }) => ({
      path: `/parse/classes/Entry?limit=${DAYS_EACH}&keys=date&order=-date&${where({ owner: ownerOf.get(token) })}`,
      headers: headersOf(token),
    }),
    saveDay: ({ token, rows }, index) => ({
      method: 'PUT',
      path: `/parse/classes/Entry/${rows.get(someDay(index))}`,
      headers: { ...headersOf(token), 'content-type': 'application/json' },
      body: JSON.stringify({ content: createLogHtml(index) }),
    }),
    stop: () => server.stop(),
  };
}

function entryClass() {
  const signedIn = { requiresAuthentication: true };
  return {
    className: 'Entry',
    fields: {
      owner: { type: 'Pointer', targetClass: '_User', required: true },
      date: { type: 'String', required: true },
      content: { type: 'String' },
    },
    classLevelPermissions: {
      ...{ find: signedIn, get: signedIn, count: signedIn, create: signedIn, update: signedIn, delete: signedIn },
      addField: {},
    },
  };
}
