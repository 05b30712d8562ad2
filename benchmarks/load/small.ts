/**
 * The smallest machine: the memory of all processes after light use, and `npm start` with 384 MB and half a core while
 * 100 people write, the coach answers and a backup runs. `--memory=256` measures the load alone, with another limit;
 * `--minutes=30` is the time into which the hour is compressed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { createLog } from '#server/log.ts';
import { stopProcess } from '../../scripts/child-processes.ts';
import { SERVER_ENVIRONMENT, SERVER_NODE_FLAGS } from '../../scripts/setup/node-flags.mjs';
import { waitForReadyUrl } from '../../tests/support/product.ts';
import { percentile, printFigures, type Figure } from '../figures.ts';
import { describeFailures, describeLatencies, failuresOf, sendAtRate } from '../http/constant-rate.ts';
import { listDates, readDay, saveDay, someDay } from '../http/journal-requests.ts';
import { signUpPeople, type Person } from '../http/people.ts';
import { memoryOf } from '../processes.ts';
import { createLogHtml } from '../seeded-database.ts';
import { createControlGroup } from './control-group.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PEOPLE = 100;
/** Somebody who writes for ten minutes of the hour is saved every few seconds. */
const SAVES_EACH = 60;
const STREAMS = 60;
const SHARE = 0.5;
/** Longer than a thread or a connection of the server is kept without work. */
const IDLE_MS = 75_000;
const SAMPLE_MS = 1_000;

const NPM_START = 'node scripts/run.mjs start';
/** The command of a service manager (deploy), which starts the server without npm. */
const SERVER = `${process.execPath} ${SERVER_NODE_FLAGS.join(' ')} src/server/main.ts`;

const { values: options } = parseArgs({
  options: { memory: { type: 'string' }, minutes: { type: 'string', default: '10' } },
});
const limit = Number(options.memory ?? 384);
const seconds = Number(options.minutes) * 60;

if (options.memory === undefined)
  printFigures('Memory of all processes after light use (PSS)', [
    await useLightly('the server alone', await start(SERVER, { SANDBOX: 'off' }), 130),
    await useLightly('npm start with the sandbox', await start(NPM_START, { SANDBOX: 'on' }), 170),
  ]);
printFigures(
  `npm start with ${limit} MB and half a core: ${PEOPLE} people, an hour in ${options.minutes} minutes`,
  await useFully(),
);

type Started = {
  url: string;
  pid: number;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  program: ChildProcess;
  stop(): Promise<void>;
};

/** Starts the product on an empty data directory. `command`: for a shell. */
async function start(command: string, settings: Record<string, string>): Promise<Started> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-small-'));
  const port = String(await freePort());
  const env = {
    ...SERVER_ENVIRONMENT,
    ...process.env,
    HOST: '127.0.0.1',
    PORT: port,
    PUBLIC_URL: `http://localhost:${port}`,
    DATA_DIR: dataDir,
    DATABASE_URL: '',
    AUTH_AUTOCONFIRM: 'on',
    AUTH_RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    ...settings,
  };
  const program = spawn('sh', ['-c', `exec ${command}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  await waitForReadyUrl(program);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: program.pid!,
    dataDir,
    env,
    program,
    async stop() {
      await stopProcess(program);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One person signs up, writes a week, reads and searches, and leaves. */
async function useLightly(what: string, app: Started, target: number): Promise<Figure> {
  try {
    const [person] = await signUpPeople(app.url, 1);
    await makeClosers(app.dataDir);
    await writeDays(app.url, person!, 7);
    const make = (index: number) => [saveDay, readDay, listDates][index % 3]!(person!, index % 7);
    await sendAtRate({ url: app.url, rate: 5, seconds: 12, make });
    const find = { query: 'needle' };
    for (let index = 0; index < 3; index += 1) await (await post(app.url, person!, 'find-entries', find)).text();
    await delay(IDLE_MS);
    const { total, parts } = await memoryOf(app.pid);
    return {
      what,
      measured: `${total.toFixed(0)} MB (${parts.map(({ name, megabytes }) => `${name} ${megabytes.toFixed(0)}`).join(', ')})`,
      target: `at most ${target} MB`,
      isMet: total <= target,
    };
  } finally {
    await app.stop();
  }
}

async function useFully(): Promise<Figure[]> {
  const group = await createControlGroup(limit, SHARE);
  const app = await start(`sh -c '${group.enter} && exec ${NPM_START}'`, { SANDBOX: 'on', AI_DAILY_LIMIT: '1000' });
  let peak = 0;
  let isSampling = true;
  const sampling = (async () => {
    for (; isSampling; await delay(SAMPLE_MS)) peak = Math.max(peak, (await memoryOf(app.pid)).total);
  })();
  try {
    const people = await signUpPeople(app.url, PEOPLE);
    await makeClosers(app.dataDir);
    for (const person of people) await writeDays(app.url, person, 7);
    const rate = (PEOPLE * SAVES_EACH) / seconds;
    const make = (index: number) => saveDay(people[index % PEOPLE]!, index % 7);
    const [saves, streams, backup] = await Promise.all([
      sendAtRate({ url: app.url, rate, seconds, make }),
      openStreams(app.url, people),
      delay((seconds * 1_000) / 3).then(() => backUp(app, group.enter)),
    ]);
    const kills = await group.kills();
    const isAlive = app.program.exitCode === null;
    const p99 = percentile(saves.latencies, 99);
    return [
      { what: 'memory at most', measured: `${peak.toFixed(0)} MB`, target: 'at most 300 MB', isMet: peak <= 300 },
      {
        what: 'killed for memory',
        measured: `${kills}${isAlive ? '' : ', and the server has ended'}`,
        target: 'none',
        isMet: kills === 0 && isAlive,
      },
      {
        what: 'p99 of a save',
        measured: describeLatencies(saves.latencies),
        target: 'at most 300 ms',
        isMet: p99 <= 300,
      },
      {
        what: 'saves, coach streams and the backup that failed',
        measured: `${failuresOf(saves)} of ${(PEOPLE * SAVES_EACH).toLocaleString('en')} ${describeFailures(saves)}, ${STREAMS - streams} of ${STREAMS}, ${backup === 0 ? 'none' : `exit code ${backup}`}`,
        target: 'none',
        isMet: failuresOf(saves) === 0 && streams === STREAMS && backup === 0,
      },
    ];
  } finally {
    isSampling = false;
    await sampling;
    await app.stop();
    await group.remove();
  }
}

async function writeDays(url: string, { id, token }: Person, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    user_id: id,
    date: someDay(index),
    content: createLogHtml(index),
  }));
  const answer = await fetch(`${url}/rest/v1/entries`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(rows),
  });
  if (!answer.ok) throw new Error(`the logs were not written: ${answer.status} ${await answer.text()}`);
}

async function makeClosers(dataDir: string): Promise<void> {
  const server = await openEmbeddedServer({ dataDir, log: createLog('error'), whenRunning: 'join' });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query("update profiles set subscription_plan = 'premium', ai_consent = true");
  await client.end();
  await server.close();
}

function post(url: string, { token }: Person, name: string, body: object): Promise<Response> {
  return fetch(`${url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Asks the coach at regular times. Returns how many streams ended with a review. */
async function openStreams(url: string, people: readonly Person[]): Promise<number> {
  const streams = Array.from({ length: STREAMS }, async (_, index) => {
    await delay((index * seconds * 1_000) / STREAMS);
    const person = people[index % PEOPLE]!;
    const answer = await post(url, person, 'ai-feedback', { date: someDay(index % 7), force: true });
    return (await answer.text()).includes('event: done');
  });
  const ended = await Promise.allSettled(streams);
  return ended.filter((stream) => stream.status === 'fulfilled' && stream.value).length;
}

async function backUp({ env, dataDir }: Started, enter: string): Promise<number | null> {
  const command = `${enter} && exec node scripts/run.mjs backup`;
  const backup = spawn('sh', ['-c', command], {
    cwd: ROOT,
    env: { ...env, BACKUP_DIR: join(dataDir, 'backups') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => backup.once('exit', resolve));
}
