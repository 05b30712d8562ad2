/**
 * Compares reading, listing and saving with the bare server on one database, interleaved; then measures saving during
 * many sign-ins, and memory. The targets of speed are ratios, because other load affects both servers equally.
 */
import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import { SignJWT } from 'jose';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { EXPOSED_TABLES } from '#server/data/exposed-tables.ts';
import { parseQuery } from '#server/data/parse/parse-query.ts';
import { parsePreferences } from '#server/data/parse/parse-headers.ts';
import { selectSql, updateSql } from '#server/data/sql/to-sql.ts';
import { addDays, dayOf } from '#domain/day/day.ts';
import { printFigures } from './figures.ts';
import type { Figure } from './figures.ts';
import { residentMegabytes, startProcess } from './processes.ts';
import type { Running } from './processes.ts';
import { DAYS_EACH, createLogHtml, openSeededDatabase, writeYears } from './seeded-database.ts';

const PEOPLE = 100;
const CONNECTIONS = 16;
const ROUNDS = 4;
const SECONDS = 3;
const SAVES_PER_SECOND = 200;
const SIGN_INS_PER_SECOND = 50;
const PASSWORD = 'correct horse battery';

type Person = { id: string; email: string; token: string; bareToken: string };
type Request = autocannon.Request;
const today = dayOf(new Date());
const entries = EXPOSED_TABLES.get('entries')!;
const REPRESENTATION = { prefer: 'return=representation' };

const database = await openSeededDatabase();
const app = await startProcess(
  'src/server/main.ts',
  { DATABASE_URL: database.url, DATA_DIR: database.dataDir, SANDBOX: 'off', AUTH_RATE_LIMITS: 'off' },
  '/readyz',
);
const secret = randomBytes(32).toString('hex');
const bare = await startProcess(
  'benchmarks/bare-server.ts',
  { DATABASE_URL: database.url, TOKEN_SECRET: secret, STATEMENTS: JSON.stringify(generateStatements()) },
  '/',
);
try {
  const atRest = await residentMegabytes(app.pid);
  const people = await signUpPeople();
  await writeYears(database.url);
  printFigures('Requests a second against the bare server', [
    await compare('read one day', people, readOfApp, readOfBare),
    await compare(`list ${DAYS_EACH} dates`, people, listOfApp, listOfBare),
    await compare('save one 2 KB day', people, saveOfApp, saveOfBare),
  ]);
  printFigures('Saving while people sign in', [await saveDuringSignIns(people)]);
  printFigures('Memory of the Node process', memoryFigures(atRest, await residentMegabytes(app.pid)));
} finally {
  await Promise.all([app.stop(), bare.stop()]);
  await database.close();
}

/** Returns the SQL that the product's data API generates for the requests below. */
function generateStatements(): Record<'read' | 'list' | 'save', string> {
  const preferences = parsePreferences(REPRESENTATION.prefer);
  const content = entries.columns.get('content')!;
  const wanted = { body: true, total: false };
  return {
    read: selectSql(entries, parseQuery(entries, dayQuery('x')), wanted).text,
    list: selectSql(entries, parseQuery(entries, listQuery('x')), wanted).text,
    save: updateSql(
      entries,
      parseQuery(entries, saveQuery('x')),
      { columns: [content], rows: [['x']] },
      { ...preferences, resolution: null },
    ).text,
  };
}

function dayQuery(user: string, date: string = today): string {
  return `select=*&user_id=eq.${user}&date=eq.${date}`;
}
function listQuery(user: string): string {
  return `select=date&user_id=eq.${user}&order=date.desc`;
}
function saveQuery(user: string, date: string = today): string {
  return `user_id=eq.${user}&date=eq.${date}&select=revision,updated_at`;
}

async function signUpPeople(): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const email = `person-${index}@example.com`;
    const answer = await fetch(`${app.url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    const session = (await answer.json()) as { access_token: string; user: { id: string } };
    const { id } = session.user;
    const bareToken = await new SignJWT({ role: 'authenticated' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(id)
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
    people.push({ id, email, token: session.access_token, bareToken });
  }
  return people;
}

function someDay(index: number): string {
  return addDays(today, -((index * 37) % DAYS_EACH));
}

function readOfApp({ id, token }: Person, index: number): Request {
  return { path: `/rest/v1/entries?${dayQuery(id, someDay(index))}`, headers: appHeaders(token) };
}
function readOfBare({ id, bareToken }: Person, index: number): Request {
  return { path: `/read?user=${id}&day=${someDay(index)}`, headers: { authorization: `Bearer ${bareToken}` } };
}
function listOfApp({ id, token }: Person): Request {
  return { path: `/rest/v1/entries?${listQuery(id)}`, headers: appHeaders(token) };
}
function listOfBare({ id, bareToken }: Person): Request {
  return { path: `/list?user=${id}`, headers: { authorization: `Bearer ${bareToken}` } };
}
function saveOfApp({ id, token }: Person, index: number): Request {
  return {
    method: 'PATCH',
    path: `/rest/v1/entries?${saveQuery(id, someDay(index))}`,
    headers: { ...appHeaders(token), ...REPRESENTATION, 'content-type': 'application/json' },
    body: JSON.stringify({ content: createLogHtml(index) }),
  };
}
function saveOfBare({ id, bareToken }: Person, index: number): Request {
  return {
    method: 'POST',
    path: `/save?user=${id}&day=${someDay(index)}`,
    headers: { authorization: `Bearer ${bareToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: createLogHtml(index) }),
  };
}
function appHeaders(token: string): Record<string, string> {
  return { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${token}`, 'accept-profile': 'public' };
}

type MakeRequest = (person: Person, index: number) => Request;

/** Repeats 400 requests. Each connection starts at another request, so that no row is written concurrently. */
async function load(server: Running, people: Person[], make: MakeRequest, options: Partial<autocannon.Options> = {}) {
  const requests = Array.from({ length: PEOPLE * 4 }, (_, index) => make(people[index % PEOPLE]!, index));
  let client = 0;
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    setupClient(connection) {
      const from = Math.floor((client++ * requests.length) / CONNECTIONS);
      connection.setRequests([...requests.slice(from), ...requests.slice(0, from)]);
    },
    ...options,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${server.url}: ${result.non2xx} rejected and ${result.errors} failed requests`);
  }
  return result;
}

/**
 * Alternates between both servers every few seconds and swaps their order each round, so that other load affects both
 * equally. Compares the sums of all rounds.
 */
async function compare(what: string, people: Person[], ours: MakeRequest, theirs: MakeRequest): Promise<Figure> {
  const done = { ours: 0, theirs: 0 };
  const turns = {
    ours: async (seconds: number) => (await load(app, people, ours, { duration: seconds })).requests.total,
    theirs: async (seconds: number) => (await load(bare, people, theirs, { duration: seconds })).requests.total,
  };
  await turns.ours(2);
  await turns.theirs(2);
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const turn of order) done[turn] += await turns[turn](SECONDS);
  }
  const ratio = done.ours / done.theirs;
  const rate = (of: 'ours' | 'theirs') => Math.round(done[of] / (ROUNDS * SECONDS)).toLocaleString('en');
  return {
    what,
    measured: `${ratio.toFixed(2)} of the bare server (${rate('ours')}/s against ${rate('theirs')}/s)`,
    target: 'at least 0.8',
    isMet: ratio >= 0.8,
  };
}

async function saveDuringSignIns(people: Person[]): Promise<Figure> {
  const steady = { overallRate: SAVES_PER_SECOND, duration: 8 };
  const quiet = await load(app, people, saveOfApp, steady);
  const signIns = autocannon({
    url: `${app.url}/auth/v1/token?grant_type=password`,
    connections: 10,
    overallRate: SIGN_INS_PER_SECOND,
    duration: 8,
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: people[0]!.email, password: PASSWORD }),
  });
  const [stormy, attempts] = await Promise.all([load(app, people, saveOfApp, steady), signIns]);
  const ratio = stormy.latency.p99 / quiet.latency.p99;
  return {
    what: `${SAVES_PER_SECOND} saves a second while ${SIGN_INS_PER_SECOND} sign-ins a second are attempted`,
    measured:
      `p99 ${ratio.toFixed(2)}x the p99 without sign-ins (${stormy.latency.p99} ms against ${quiet.latency.p99} ms; ` +
      `${attempts['2xx']} people signed in, ${attempts.non2xx} were asked to retry)`,
    target: 'at most 3x',
    isMet: ratio <= 3,
  };
}

function memoryFigures(atRest: number | null, afterLoad: number | null): Figure[] {
  const figure = (what: string, megabytes: number | null, limit: number): Figure => ({
    what,
    measured: megabytes === null ? 'not measured on this system' : `${megabytes.toFixed(0)} MB`,
    target: `at most ${limit} MB`,
    isMet: megabytes !== null && megabytes <= limit,
  });
  return [figure('at rest', atRest, 110), figure('after the load', afterLoad, 220)];
}
