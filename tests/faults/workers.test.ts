/**
 * Several workers behind one port share rate limits and live changes, go on when one of them is killed, and are
 * replaced without a failed request.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { programEnvironment, waitForReadyUrl } from '../support/product.ts';
import { readChanges, type ChangesReader } from '../support/read-changes.ts';
import { findChildren, findRunning, signUpAt, type SignedUp } from './processes.ts';

const ROOT = join(import.meta.dirname, '..', '..');

type Program = { url: string; smtpPort: number; supervisor: ChildProcess; ended: Promise<number | string> };

/**
 * Starts two workers and their embedded database from the sources below `root`.
 *
 * @param whenStarted gets the supervisor before it is ready
 */
async function startWorkers(
  root: string,
  dataDir: string,
  whenStarted: (supervisor: ChildProcess) => Promise<void> = () => Promise.resolve(),
): Promise<Program> {
  const [port, smtpPort] = await Promise.all([freePort(), freePort()]);
  const url = `http://localhost:${port}`;
  const supervisor = spawn(process.execPath, [join(root, 'src', 'server', 'main.ts')], {
    cwd: root,
    env: {
      ...programEnvironment(),
      ...{ PORT: String(port), PUBLIC_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' },
      ...{ SANDBOX: 'off', WEB_CONCURRENCY: '2' },
      ...{ INBOUND_DOMAIN: 'reply.example.org', INBOUND_SMTP_PORT: String(smtpPort) },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(supervisor, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  await Promise.all([waitForReadyUrl(supervisor), whenStarted(supervisor)]);
  return { url, smtpPort, supervisor, ended };
}

const workersOf = ({ supervisor }: Program): number[] =>
  findChildren(supervisor.pid!)
    .filter(({ command, state }) => command.includes('worker.ts') && !state.startsWith('Z'))
    .map(({ pid }) => pid);

/** Only a failing test takes this long. */
const LIMIT_MS = 60_000;
/** Without this header, a worker that is replaced waits five seconds for the next request on an idle connection. */
const CLOSE = { connection: 'close' };

/** The number of requests on a route that each worker has answered, by the worker's number. */
async function countAnswers(url: string, route: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`, { headers: CLOSE })).text();
  const counts = new Map<string, number>();
  for (const [, labels = '', count] of text.matchAll(/^hustle_forge_request_seconds_count\{(.*)\} (\d+)$/gm)) {
    const [, worker = ''] = /worker="(\d)"/.exec(labels) ?? [];
    if (labels.includes(`route="${route}"`)) counts.set(worker, (counts.get(worker) ?? 0) + Number(count));
  }
  return counts;
}

/** Reads and saves on connections of its own until `stop`, which returns the failures. */
function startLoad(url: string, { userId, headers }: SignedUp, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  let answered = 0;
  let isStopped = false;

  const send = (method: string, path: string, options: { agent?: Agent | false; body?: string }): Promise<void> =>
    new Promise((resolve) => {
      const fail = (reason: string): void => {
        failures.push(`${method} ${path}: ${reason}`);
        resolve();
      };
      const outgoing = request(`${url}${path}`, { method, headers, agent: options.agent ?? agent }, (response) => {
        response.resume().once('end', () => {
          if (response.statusCode! >= 300) return fail(String(response.statusCode));
          answered += 1;
          return resolve();
        });
        response.once('error', (error: Error) => fail(error.message));
      });
      outgoing.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
      outgoing.end(options.body);
    });

  const day = `/rest/v1/entries?user_id=eq.${userId}&date=eq.${dayOf(new Date())}`;
  async function repeat(index: number): Promise<void> {
    for (let count = 0; !isStopped; count += 1) {
      if (index === 0) await send('GET', '/healthz', { agent: false });
      else if (index === 1) await send('PATCH', day, { body: JSON.stringify({ content: `<p>Save ${count}</p>` }) });
      else await send('GET', `${day}&select=content`, {});
    }
  }
  const running = Array.from({ length: connections }, (_, index) => repeat(index));
  return {
    answered: () => answered,
    async stop(): Promise<string[]> {
      isStopped = true;
      await Promise.all(running);
      agent.destroy();
      return failures;
    },
  };
}

describe('two workers', () => {
  let dataDir = '';
  let program: Program;
  let person: SignedUp;
  const token = (): string => person.headers['authorization']!.slice('Bearer '.length);
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'hustle-forge-workers-'));
    program = await startWorkers(ROOT, dataDir);
    person = await signUpAt(program.url);
  });
  afterAll(async () => {
    program?.supervisor.kill('SIGKILL');
    await program?.ended;
    rmSync(dataDir, { recursive: true, force: true });
  });

  const save = (text: string): Promise<Response> =>
    fetch(`${program.url}/rest/v1/entries`, {
      method: 'POST',
      headers: { ...person.headers, prefer: 'resolution=merge-duplicates', ...CLOSE },
      body: JSON.stringify({ user_id: person.userId, date: dayOf(new Date()), content: `<p>${text}</p>` }),
    });

  const recover = (localAddress: string, email: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json', ...CLOSE };
      const options = { method: 'POST', headers, localAddress, family: 4, agent: false as const };
      const outgoing = request(`${program.url}/auth/v1/recover`, options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      });
      outgoing.once('error', reject).end(JSON.stringify({ email }));
    });

  test('count the requests of an address together', async () => {
    const rounds: number[][] = [];
    const countRecoveries = () => countAnswers(program.url, '/auth/v1/recover');
    /** Sends 34 requests from a new address, and returns the workers that have answered them. */
    const sendRound = async (): Promise<string[]> => {
      const address = `127.0.0.${rounds.length + 2}`;
      const before = await countRecoveries();
      const emails = Array.from({ length: 34 }, (_, index) => `nobody-${rounds.length}-${index}@example.com`);
      rounds.push(await Promise.all(emails.map((email) => recover(address, email))));
      const answers = await countRecoveries();
      return [...answers.keys()].filter((worker) => answers.get(worker)! > (before.get(worker) ?? 0)).toSorted();
    };
    // The operating system chooses the worker of a connection. On a busy machine, one worker may take a whole round.
    await expect.poll(sendRound, { timeout: LIMIT_MS }).toEqual(['1', '2']);
    for (const statuses of rounds)
      expect(statuses.toSorted()).toEqual([...Array<number>(30).fill(200), ...Array<number>(4).fill(429)]);
    const answers = await countRecoveries();
    expect([...answers.values()].reduce((sum, count) => sum + count)).toBe(34 * rounds.length);
  });

  test('tell the streams of each other about a save', async () => {
    // An event id begins with the epoch of its process. The operating system chooses the worker of a connection, so the
    // test opens streams until it has one of each worker.
    const streams = new Map<string, ChangesReader>();
    const openAnother = async (): Promise<number> => {
      const stream = await readChanges(program.url, token(), CLOSE);
      const [epoch = ''] = (await stream.next()).id!.split('.');
      streams.get(epoch)?.close();
      return streams.set(epoch, stream).size;
    };
    await expect.poll(openAnother, { interval: 10, timeout: LIMIT_MS }).toBe(2);
    expect((await save('Told to both')).status).toBe(201);
    for (const stream of streams.values()) {
      expect(await stream.next()).toMatchObject({ event: 'change', data: { stored: true } });
      stream.close();
    }
  });

  test('each receive mails at the same port', async () => {
    for (const stopped of workersOf(program)) {
      process.kill(stopped, 'SIGSTOP');
      const socket = connect(program.smtpPort, '127.0.0.1');
      try {
        const [greeting] = (await once(socket, 'data')) as [Buffer];
        expect(greeting.toString()).toMatch(/^220 reply\.example\.org/);
      } finally {
        process.kill(stopped, 'SIGCONT');
        socket.destroy();
      }
    }
  });

  test('a killed worker costs at most its requests in flight and is started again', async () => {
    const connections = 6;
    const load = startLoad(program.url, person, connections);
    await expect.poll(() => load.answered(), { timeout: LIMIT_MS }).toBeGreaterThan(50);
    const before = workersOf(program);
    expect(before).toHaveLength(2);
    process.kill(before[0]!, 'SIGKILL');
    const isBack = async (): Promise<boolean> => {
      const now = workersOf(program);
      return now.length === 2 && !now.includes(before[0]!) && (await countAnswers(program.url, '/healthz')).size === 2;
    };
    await expect.poll(isBack, { timeout: LIMIT_MS }).toBe(true);
    expect((await load.stop()).length).toBeLessThanOrEqual(connections);
  });

  test('SIGHUP replaces both under load without a failed request, and their streams reconnect', async () => {
    const stream = await readChanges(program.url, token(), CLOSE);
    const load = startLoad(program.url, person, 6);
    await expect.poll(() => load.answered(), { timeout: LIMIT_MS }).toBeGreaterThan(50);
    const before = workersOf(program);
    program.supervisor.kill('SIGHUP');
    const isReplaced = (): boolean => {
      const now = workersOf(program);
      return now.length === 2 && !now.some((pid) => before.includes(pid));
    };
    await expect.poll(isReplaced, { timeout: LIMIT_MS }).toBe(true);
    const answered = load.answered();
    await expect.poll(() => load.answered(), { timeout: LIMIT_MS }).toBeGreaterThan(answered + 50);
    expect(await load.stop()).toEqual([]);

    let event = await stream.next();
    while (event.event !== 'end') event = await stream.next();
    expect(event.data).toEqual({ reason: 'unavailable' });
    const again = await readChanges(program.url, token(), { 'last-event-id': event.id ?? 'of-before.1' });
    expect(await again.next()).toMatchObject({ event: 'resync' });
    again.close();
  });

  test('SIGTERM finishes and stops all processes', async () => {
    const processes = findChildren(program.supervisor.pid!);
    expect(processes.length).toBeGreaterThanOrEqual(3);
    program.supervisor.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(findRunning(processes)).toEqual([]);
  });
});

test('SIGHUP while the embedded database starts does not end the program', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'hustle-forge-early-reload-'));
  const { supervisor, ended } = await startWorkers(ROOT, dataDir, async (starting) => {
    await expect.poll(() => findChildren(starting.pid!), { interval: 10, timeout: LIMIT_MS }).not.toEqual([]);
    starting.kill('SIGHUP');
  });
  supervisor.kill('SIGTERM');
  expect(await ended).toBe(0);
  rmSync(dataDir, { recursive: true, force: true });
});

/** The long form alone: a copy of the sources has no compile cache, so each process takes seconds to start. */
if (process.env['TEST_LONG']) {
  test('SIGHUP starts the program that is on disk now, and keeps the running one if that cannot start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hustle-forge-upgrade-'));
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    cpSync(join(ROOT, 'database'), join(folder, 'database'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const source = join(folder, 'src', 'server', 'http', 'health.ts');
    const original = readFileSync(source, 'utf8');
    const program = await startWorkers(folder, join(folder, 'data'));
    const readStatus = async (): Promise<string> => (await fetch(`${program.url}/healthz`, { headers: CLOSE })).text();
    try {
      const before = workersOf(program);
      writeFileSync(source, 'this is no program');
      program.supervisor.kill('SIGHUP');
      await expect.poll(() => workersOf(program).length, { timeout: LIMIT_MS }).toBe(3);
      await expect.poll(() => workersOf(program), { timeout: LIMIT_MS }).toEqual(before);
      expect(await readStatus()).toBe('{"status":"up"}');

      writeFileSync(source, original.replace("status: 'up'", "status: 'upgraded'"));
      program.supervisor.kill('SIGHUP');
      const isReplaced = (): boolean => workersOf(program).every((pid) => !before.includes(pid));
      await expect.poll(isReplaced, { timeout: LIMIT_MS }).toBe(true);
      for (let count = 0; count < 4; count += 1) expect(await readStatus()).toBe('{"status":"upgraded"}');
    } finally {
      program.supervisor.kill('SIGTERM');
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
