/** better-auth on Fastify and pg, as an application without row-level security would use it. */
import { randomBytes } from 'node:crypto';
import { someDay } from '../http/journal-requests.ts';
import { startProcess } from '../processes.ts';
import { createLogHtml, DAYS_EACH } from '../seeded-database.ts';
import { installPackages } from './install.ts';
import { requestJson, rowsByDate, runSql, type Peer, type PeerPerson } from './peer.ts';

const PACKAGES = { 'better-auth': '1.7.25', fastify: '5.10.0', pg: '8.23.1' };
const WRITE_YEARS = `
  insert into entries (user_id, date, content)
  select id, current_date - days, $1 from "user", generate_series(0, $2::int - 1) days`;

/** @param databaseUrl an empty database, with the rights of its owner */
export async function startBetterAuth(databaseUrl: string, count: number): Promise<Peer> {
  const MODULES = await installPackages('better-auth', PACKAGES);
  const server = await startProcess(
    'benchmarks/peers/servers/better-auth.mjs',
    { DATABASE_URL: databaseUrl, MODULES, SECRET: randomBytes(32).toString('hex') },
    '/',
  );
  const { url } = server;
  const rows = rowsByDate(() => '');
  const people: PeerPerson[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = { name: 'A person', email: `person-${index}@example.com`, password: 'correct horse battery' };
    const { token } = await requestJson<{ token: string }>('POST', `${url}/api/auth/sign-up/email`, account, {
      origin: url,
    });
    people.push({ token, rows });
  }
  await runSql(databaseUrl, WRITE_YEARS, [createLogHtml(0), DAYS_EACH]);
  const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    name: `better-auth ${PACKAGES['better-auth']} on Fastify`,
    url,
    pids: [server.pid],
    people,
    readDay: ({ token }, index) => ({ path: `/entries/${someDay(index)}`, headers: headersOf(token) }),
    listDates: ({ token }) => ({ path: '/entries', headers: headersOf(token) }),
    saveDay: ({ token }, index) => ({
      method: 'PUT',
      path: `/entries/${someDay(index)}`,
      headers: { ...headersOf(token), 'content-type': 'application/json' },
      body: JSON.stringify({ content: createLogHtml(index) }),
    }),
    stop: () => server.stop(),
  };
}
