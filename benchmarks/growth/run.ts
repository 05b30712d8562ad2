/**
 * Compares the real server on 36.5 million logs with the same server on a hundredth of them: reading a day, listing a
 * year, saving and finding, by users spread over the whole table. Both servers run at once and receive requests
 * alternately, so that other load affects both equally.
 *
 * Options: --data=FOLDER keeps the data for the next run, --users=N, --days=N, --seed-only, and --index, which builds
 * an index of the large table while users save.
 */
import { Agent, request } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { runAdminCommand } from '#server/admin.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { createLog } from '#server/log.ts';
import { median, percentile, printFigures, type Figure } from '../figures.ts';
import { startProcess, type Running } from '../processes.ts';
import { PASSWORD } from '../../tests/support/passwords.ts';
import { SEARCHED_WORD, ensureSeeded } from './seed.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    users: { type: 'string', default: '100000' },
    days: { type: 'string', default: '365' },
    'seed-only': { type: 'boolean', default: false },
    index: { type: 'boolean', default: false },
  },
});
const DAYS = Number(options.days);
const SIZES = { small: Math.ceil(Number(options.users) / 100), large: Number(options.users) } as const;
type Side = keyof typeof SIZES;

/** The number of users whose requests are measured, spread over the table. */
const PEOPLE = 200;
const REQUESTS = 1_000;
const WARM_UP = 200;
const MAX_RATIO = 1.3;

type Person = { id: string; token: string };
type World = { app: Running; url: string; people: Person[]; megabytes: number; buffers: string };

const folder = options.data ?? (await mkdtemp(join(tmpdir(), 'hustle-forge-growth-')));
const agent = new Agent({ keepAlive: true });

async function measure(): Promise<void> {
  const small = await openWorld('small');
  const large = await openWorld('large');
  try {
    const rows = (side: Side): string => (SIZES[side] * DAYS).toLocaleString('en');
    process.stdout.write(
      `${rows('small')} logs (${small.megabytes} MB) and ${rows('large')} logs (${large.megabytes} MB), shared_buffers ` +
        `${large.buffers}, load ${loadavg()[0]!.toFixed(1)}\n`,
    );
    const figures: Figure[] = [];
    for (const [what, ask] of Object.entries(ASKS)) figures.push(await compare(what, { small, large }, ask));
    if (options.index) figures.push(await saveDuringIndex(large));
    printFigures(`${rows('large')} logs against ${rows('small')}, one request at a time`, figures);
  } finally {
    await Promise.all([small.app.stop(), large.app.stop()]);
  }
}

/**
 * Measures saves while an index is built concurrently, as by a migration of the phase `migrate`
 * (docs/operations/upgrades.md). A refused save ends the benchmark.
 */
async function saveDuringIndex(world: World): Promise<Figure> {
  const save = ASKS['save one day']!;
  let turn = 0;
  const timeSave = async (): Promise<number> => {
    const startedAt = performance.now();
    await save(world, (turn += 1));
    return performance.now() - startedAt;
  };
  const quiet: number[] = [];
  while (quiet.length < WARM_UP) quiet.push(await timeSave());
  const admin = new pg.Client({ connectionString: world.url });
  await admin.connect();
  await admin.query('drop index concurrently if exists growth_probe');
  const startedAt = performance.now();
  let isBuilt = false;
  const building = admin
    .query('create index concurrently growth_probe on entries (user_id, updated_at)')
    .finally(() => (isBuilt = true));
  const taken: number[] = [];
  while (!isBuilt) taken.push(await timeSave());
  await building;
  const seconds = (performance.now() - startedAt) / 1000;
  await admin.query('drop index concurrently growth_probe');
  await admin.end();
  const p99 = percentile(taken, 99);
  return {
    what: 'saves while an index of all logs is built concurrently',
    measured:
      `${taken.length} in ${seconds.toFixed(0)} s, none refused, p50 ${median(taken).toFixed(1)} ms, p99 ${p99.toFixed(0)} ms ` +
      `(before p50 ${median(quiet).toFixed(1)} ms, p99 ${percentile(quiet, 99).toFixed(0)} ms)`,
    target: 'p99 at most 1,000 ms',
    isMet: p99 <= 1_000,
  };
}

async function openWorld(side: Side): Promise<World> {
  const dataDir = join(folder, side);
  // The server creates no signing key in a database with refresh tokens, because a new key would end their sessions.
  const keyFile = join(dataDir, 'key.json');
  await writeFile(keyFile, await runAdminCommand(['key:create']), { mode: 0o600 });
  const app = await startProcess(
    'src/server/main.ts',
    { DATA_DIR: dataDir, DATABASE_URL: '', AUTH_SIGNING_KEY_FILE: keyFile, SANDBOX: 'off', AUTH_RATE_LIMITS: 'off' },
    '/readyz',
  );
  const { url } = await openEmbeddedServer({ dataDir, log: createLog('error'), whenRunning: 'join' });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ megabytes: number; buffers: string }>(
    `select (pg_database_size(current_database()) / 1024 / 1024)::int as megabytes, current_setting('shared_buffers') as buffers`,
  );
  await client.end();
  const people: Person[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const number = 1 + Math.floor((index * SIZES[side]) / PEOPLE);
    const body = JSON.stringify({ email: `writer-${number}@example.com`, password: PASSWORD });
    const session = (await send(app, 'POST', '/auth/v1/token?grant_type=password', null, body)) as {
      access_token: string;
      user: { id: string };
    };
    people.push({ id: session.user.id, token: session.access_token });
  }
  return { app, url, people, ...rows[0]! };
}

/** Rejects unless the response is 2xx. Resolves with its JSON. */
function send({ url }: Running, method: string, path: string, token: string | null, body?: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = {
      apikey: PUBLISHABLE_KEY,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', prefer: 'return=representation' }),
    };
    const sent = request(`${url}${path}`, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${path} answered ${status}: ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

type Ask = (world: World, turn: number) => Promise<unknown>;

/** With `dayOf`, each turn reads or writes another row: a row that is read again would come from a cache. */
const personOf = ({ people }: World, turn: number): Person => people[(turn * 73) % PEOPLE]!;
const dayOf = (turn: number): string =>
  new Date(Date.now() - ((turn * 37) % DAYS) * 86_400_000).toISOString().slice(0, 10);

const ASKS: Readonly<Record<string, Ask>> = {
  'read one day': async (world, turn) => {
    const { id, token } = personOf(world, turn);
    const path = `/rest/v1/entries?select=*&user_id=eq.${id}&date=eq.${dayOf(turn)}`;
    expectRows(await send(world.app, 'GET', path, token), 1);
  },
  [`list ${DAYS} dates`]: async (world, turn) => {
    const { id, token } = personOf(world, turn);
    const path = `/rest/v1/entries?select=date&user_id=eq.${id}&order=date.desc`;
    expectRows(await send(world.app, 'GET', path, token), DAYS);
  },
  'save one day': async (world, turn) => {
    const { id, token } = personOf(world, turn);
    const path = `/rest/v1/entries?user_id=eq.${id}&date=eq.${dayOf(turn)}&select=revision`;
    const body = JSON.stringify({
      content: `<ol><li><p>Saved ${turn} again at ${Date.now()}, ${SEARCHED_WORD}</p></li></ol>`,
    });
    expectRows(await send(world.app, 'PATCH', path, token, body), 1);
  },
  'find a word': async (world, turn) => {
    const { token } = personOf(world, turn);
    await send(world.app, 'POST', '/functions/v1/find-entries', token, JSON.stringify({ query: SEARCHED_WORD }));
  },
};

function expectRows(answer: unknown, count: number): void {
  if ((answer as unknown[]).length !== count)
    throw new Error(`expected ${count} rows, not ${(answer as unknown[]).length}`);
}

async function compare(what: string, worlds: Record<Side, World>, ask: Ask): Promise<Figure> {
  const taken: Record<Side, number[]> = { small: [], large: [] };
  const first: Record<Side, number[]> = { small: [], large: [] };
  for (let turn = 0; turn < WARM_UP + REQUESTS; turn += 1) {
    for (const side of turn % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const)) {
      const startedAt = performance.now();
      await ask(worlds[side], turn);
      (turn < WARM_UP ? first : taken)[side].push(performance.now() - startedAt);
    }
  }
  const ratio = median(taken.large) / median(taken.small);
  const ms = (values: readonly number[], percent: number): string => percentile(values, percent).toFixed(2);
  const describe = (side: Side): string =>
    `p50 ${ms(taken[side], 50)} ms, p95 ${ms(taken[side], 95)} ms, first ${WARM_UP}: p50 ${ms(first[side], 50)} ms`;
  return {
    what,
    measured: `${ratio.toFixed(2)}x (${describe('large')}; against ${describe('small')})`,
    target: `p50 at most ${MAX_RATIO}x`,
    isMet: ratio <= MAX_RATIO,
  };
}

await mkdir(folder, { recursive: true });
try {
  for (const side of ['small', 'large'] as const)
    await ensureSeeded(join(folder, side), { users: SIZES[side], days: DAYS });
  if (!options['seed-only']) await measure();
} finally {
  agent.destroy();
  if (options.data === undefined) await rm(folder, { recursive: true, force: true });
}
