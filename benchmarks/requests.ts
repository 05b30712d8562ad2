/**
 * Compares reading, listing and saving with `bare-server.ts` on one database, interleaved. Then measures saving during
 * many sign-ins, and memory. The targets of speed are ratios, because other load affects both servers equally.
 */
import { randomBytes } from 'node:crypto';
import autocannon, { type Request } from 'autocannon';
import { SignJWT } from 'jose';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { EXPOSED_TABLES } from '#server/data/exposed-tables.ts';
import { parseQuery } from '#server/data/parse-query.ts';
import { parsePreferences } from '#server/data/parse-headers.ts';
import { selectSql, updateSql } from '#server/data/to-sql.ts';
import { printFigures, type Figure } from './figures.ts';
import {
  appendItem,
  dayQuery,
  listDates,
  listQuery,
  readDay,
  REPRESENTATION,
  saveDay,
  saveDayAnew,
  saveQuery,
  someDay,
  type MakeRequest,
} from './http/journal-requests.ts';
import { compareRates, describeRates, load } from './http/load.ts';
import { PASSWORD, signUpPeople, type Person } from './http/people.ts';
import { residentMegabytes, startProcess, startProduct } from './processes.ts';
import { DAYS_EACH, createLogHtml, openSeededDatabase, writeYears } from './seeded-database.ts';

const PEOPLE = 100;
const SAVES_PER_SECOND = 200;
const SIGN_INS_PER_SECOND = 50;
/** The least rate of appends by token, as a share of the product's own saves. */
const LEAST_APPENDS = 0.8;
/** The least speed of the product, as a share of the bare server's. */
const TARGETS = { read: 1.2, list: 1.1, save: 0.95 } as const;

/** `bareToken` is a token of the bare server. */
type Client = Person & { bareToken: string };
const entries = EXPOSED_TABLES.get('entries')!;

const database = await openSeededDatabase();
const app = await startProduct(database);
const secret = randomBytes(32).toString('hex');
const bare = await startProcess(
  'benchmarks/bare-server.ts',
  { DATABASE_URL: database.url, TOKEN_SECRET: secret, STATEMENTS: JSON.stringify(generateStatements()) },
  '/',
);
try {
  const atRest = await residentMegabytes(app.pid);
  const people = await Promise.all((await signUpPeople(app.url, PEOPLE)).map(addBareToken));
  await writeYears(database.url);
  printFigures('Requests a second against the bare server', [
    await compare('read one day', TARGETS.read, people, readDay, readOfBare),
    await compare(`list ${DAYS_EACH} dates`, TARGETS.list, people, listDates, listOfBare),
    await compare('save one 2 KB day', TARGETS.save, people, saveDay, saveOfBare),
  ]);
  printFigures('Appending by token', [await compareAppends(people)]);
  printFigures('Saving while people sign in', [await saveDuringSignIns(people)]);
  printFigures('Memory of the Node process', memoryFigures(atRest, await residentMegabytes(app.pid)));
} finally {
  await Promise.all([app.stop(), bare.stop()]);
  await database.close();
}

/** Returns the SQL that the product's data API generates for the requests below, without its limit of rows. */
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
      { isOneRow: true },
    ).text,
  };
}

async function addBareToken(person: Person): Promise<Client> {
  const bareToken = await new SignJWT({ role: 'authenticated' })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(person.id)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
  return { ...person, bareToken };
}

function readOfBare({ id, bareToken }: Client, index: number): Request {
  return { path: `/read?user=${id}&day=${someDay(index)}`, headers: { authorization: `Bearer ${bareToken}` } };
}
function listOfBare({ id, bareToken }: Client): Request {
  return { path: `/list?user=${id}`, headers: { authorization: `Bearer ${bareToken}` } };
}
function saveOfBare({ id, bareToken }: Client, index: number): Request {
  return {
    method: 'POST',
    path: `/save?user=${id}&day=${someDay(index)}`,
    headers: { authorization: `Bearer ${bareToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: createLogHtml(index) }),
  };
}

async function compare(
  what: string,
  target: number,
  people: Client[],
  ours: MakeRequest<Client>,
  theirs: MakeRequest<Client>,
): Promise<Figure> {
  const rates = await compareRates({
    ours: async (duration) => (await load(app.url, people, ours, { duration })).requests.total,
    theirs: async (duration) => (await load(bare.url, people, theirs, { duration })).requests.total,
  });
  return {
    what,
    measured: `${rates.ratio.toFixed(2)} of the bare server (${describeRates(rates)})`,
    target: `at least ${target}`,
    isMet: rates.ratio >= target,
  };
}

async function compareAppends(people: Client[]): Promise<Figure> {
  const programs = await Promise.all(people.map(async (person) => ({ ...person, token: await createToken(person) })));
  const rates = await compareRates({
    ours: async (duration) => (await load(app.url, programs, appendItem, { duration })).requests.total,
    theirs: async (duration) => (await load(app.url, people, saveDayAnew, { duration })).requests.total,
  });
  return {
    what: 'append an item with a key to a 2 KB day',
    measured: `${rates.ratio.toFixed(2)} of the rate of saves (${describeRates(rates)})`,
    target: `at least ${LEAST_APPENDS}`,
    isMet: rates.ratio >= LEAST_APPENDS,
  };
}

async function createToken({ token }: Person): Promise<string> {
  const answer = await fetch(`${app.url}/auth/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Benchmark', scopes: ['append'], days: 30 }),
  });
  return ((await answer.json()) as { token: string }).token;
}

async function saveDuringSignIns(people: Client[]): Promise<Figure> {
  const steady = { overallRate: SAVES_PER_SECOND, duration: 8 };
  const quiet = await load(app.url, people, saveDay, steady);
  const signIns = autocannon({
    url: `${app.url}/auth/v1/token?grant_type=password`,
    connections: 10,
    overallRate: SIGN_INS_PER_SECOND,
    duration: 8,
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: people[0]!.email, password: PASSWORD }),
  });
  const [stormy, attempts] = await Promise.all([load(app.url, people, saveDay, steady), signIns]);
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
