/**
 * Compares sign-in with argon2id alone. Compares session renewal and `GET /user` with `bare-auth-server.ts` on the same
 * database. The samples are interleaved and the targets are ratios, because other load affects both sides equally. Then
 * measures the memory while many sign-ins wait.
 */
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { createPasswords } from '#server/auth/password/passwords.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { printFigures, type Figure } from './figures.ts';
import { residentMegabytes, startProcess } from './processes.ts';
import { openSeededDatabase } from './seeded-database.ts';

const CONNECTIONS = 16;
/** Enough to keep the password thread busy. */
const SIGN_IN_CONNECTIONS = 4;
const ROUNDS = 4;
const SECONDS = 3;
const WARM_UP_SECONDS = 2;
const WAITING_SIGN_INS = 200;
const MAX_MEGABYTES = 220;
const SAMPLE_MS = 20;
const PASSWORD = 'correct horse battery';
const JSON_HEADERS = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };

type Session = { access_token: string; refresh_token: string };
type Person = { email: string; id: string; app: Session; bare: Session };

const database = await openSeededDatabase();
const env = { DATABASE_URL: database.url, DATA_DIR: database.dataDir };
const app = await startProcess('src/server/main.ts', { ...env, SANDBOX: 'off', AUTH_RATE_LIMITS: 'off' }, '/readyz');
const bare = await startProcess('benchmarks/bare-auth-server.ts', env, '/');
const passwords = createPasswords();
try {
  const people = await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => createPerson(index)));
  printFigures('Accounts', [
    await compare('sign in, against argon2id alone', 0.8, signIns(people), verifications()),
    await compare('renew a session, against the bare server', 0.7, renewals(people, 'app'), renewals(people, 'bare')),
    await compare('GET /user, against the bare server', 0.7, userReads(people, 'app'), userReads(people, 'bare')),
    await measureWaitingSignIns(people[0]!),
  ]);
} finally {
  await Promise.all([app.stop(), bare.stop(), passwords.close()]);
  await database.close();
}

async function post<Answer>(url: string, body: object): Promise<Answer> {
  const answer = await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function createPerson(index: number): Promise<Person> {
  const email = `person-${index}@example.com`;
  const signedUp = await post<Session & { user: { id: string } }>(`${app.url}/auth/v1/signup`, {
    email,
    password: PASSWORD,
  });
  const { id } = signedUp.user;
  return { email, id, app: signedUp, bare: await startBareSession(id) };
}

function startBareSession(userId: string): Promise<Session> {
  return post(`${bare.url}/sessions`, { user_id: userId });
}

/** Repeats some work for `seconds` and returns how often it was done. */
type Load = (seconds: number) => Promise<number>;

/** Repeats one request on each connection. `requestFor` creates it from the connection's number. */
function requestLoad(options: autocannon.Options, requestFor: (connection: number) => autocannon.Request): Load {
  return async (duration) => {
    let connections = 0;
    const result = await autocannon({
      connections: CONNECTIONS,
      duration,
      ...options,
      setupClient: (client) => client.setRequests([requestFor(connections++)]),
    });
    if (result.non2xx > 0 || result.errors > 0) {
      throw new Error(`${options.url}: ${result.non2xx} rejected and ${result.errors} failed requests`);
    }
    return result.requests.total;
  };
}

function signIns(people: readonly Person[]): Load {
  return requestLoad({ url: app.url, connections: SIGN_IN_CONNECTIONS }, (connection) => ({
    method: 'POST',
    path: '/auth/v1/token?grant_type=password',
    headers: JSON_HEADERS,
    body: JSON.stringify({ email: people[connection]!.email, password: PASSWORD }),
  }));
}

/** Verifies `SIGN_IN_CONNECTIONS` passwords at once, on one thread of this process, as the product's server does. */
function verifications(): Load {
  const hash = passwords.hash(PASSWORD);
  return async (seconds) => {
    const stored = await hash;
    const until = performance.now() + seconds * 1000;
    let done = 0;
    const verify = async (): Promise<void> => {
      for (; performance.now() < until; done += 1) await passwords.matches(PASSWORD, stored);
    };
    await Promise.all(Array.from({ length: SIGN_IN_CONNECTIONS }, verify));
    return done;
  };
}

/** When a load stops, the last answer is lost with its refresh token. So each load begins with new sessions. */
function renewals(people: readonly Person[], side: 'app' | 'bare'): Load {
  const url = side === 'app' ? app.url : bare.url;
  const path = side === 'app' ? '/auth/v1/token?grant_type=refresh_token' : '/refresh';
  return async (seconds) => {
    const sessions = await Promise.all(people.map(({ email, id }) => startSession(side, email, id)));
    const load = requestLoad({ url }, (connection) => ({
      method: 'POST',
      path,
      headers: JSON_HEADERS,
      setupRequest: (request) => ({
        ...request,
        body: JSON.stringify({ refresh_token: sessions[connection]!.refresh_token }),
      }),
      onResponse: (status, body) => {
        if (status === 200) sessions[connection] = JSON.parse(body) as Session;
      },
    }));
    return load(seconds);
  };
}

function startSession(side: 'app' | 'bare', email: string, userId: string): Promise<Session> {
  if (side === 'bare') return startBareSession(userId);
  return post(`${app.url}/auth/v1/token?grant_type=password`, { email, password: PASSWORD });
}

function userReads(people: readonly Person[], side: 'app' | 'bare'): Load {
  return requestLoad({ url: side === 'app' ? app.url : bare.url }, (connection) => ({
    path: side === 'app' ? '/auth/v1/user' : '/user',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${people[connection]![side].access_token}` },
  }));
}

/** One argon2id computation takes 19 MiB: without a limit on concurrent ones, 200 sign-ins would take 3.8 GB. */
async function measureWaitingSignIns({ email }: Person): Promise<Figure> {
  const request = { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ email, password: PASSWORD }) };
  const signIn = async () => {
    const { status, headers, body } = await fetch(`${app.url}/auth/v1/token?grant_type=password`, request);
    await body?.cancel();
    return { isSignedIn: status === 200, isToldToRetry: status === 503 && headers.get('retry-after') === '1' };
  };
  let highest = (await residentMegabytes(app.pid)) ?? Number.NaN;
  let isWaiting = true;
  const sample = async (): Promise<void> => {
    for (; isWaiting; await delay(SAMPLE_MS))
      highest = Math.max(highest, (await residentMegabytes(app.pid)) ?? Number.NaN);
  };
  const sampling = sample();
  const answers = await Promise.all(Array.from({ length: WAITING_SIGN_INS }, signIn));
  isWaiting = false;
  await sampling;
  const signedIn = answers.filter((answer) => answer.isSignedIn).length;
  const toldToRetry = answers.filter((answer) => answer.isToldToRetry).length;
  return {
    what: `memory while ${WAITING_SIGN_INS} sign-ins wait`,
    measured: `${Number.isNaN(highest) ? 'not measured on this system' : `${highest.toFixed(0)} MB`} (${signedIn} signed in, ${toldToRetry} were told to retry)`,
    target: `at most ${MAX_MEGABYTES} MB, all others told to retry`,
    isMet: highest <= MAX_MEGABYTES && signedIn > 0 && signedIn + toldToRetry === WAITING_SIGN_INS,
  };
}

/** Alternates between both loads and swaps their order each round, so that other load affects both equally. */
async function compare(what: string, target: number, ours: Load, theirs: Load): Promise<Figure> {
  const done = { ours: 0, theirs: 0 };
  const loads = { ours, theirs };
  await ours(WARM_UP_SECONDS);
  await theirs(WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const turn of order) done[turn] += await loads[turn](SECONDS);
  }
  const ratio = done.ours / done.theirs;
  const rate = (of: 'ours' | 'theirs'): string => Math.round(done[of] / (ROUNDS * SECONDS)).toLocaleString('en');
  return {
    what,
    measured: `${ratio.toFixed(2)} (${rate('ours')}/s against ${rate('theirs')}/s)`,
    target: `at least ${target}`,
    isMet: ratio >= target,
  };
}
