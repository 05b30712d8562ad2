/**
 * Fairness and memory under overload (docs/operations/overload.md): the saves of ten users while one account, or one
 * address with 100 accounts, floods the server; then the memory while thousands of connections do everything at once.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'autocannon';
import { percentile, printFigures, type Figure } from '../figures.ts';
import { describeLatencies, failuresOf, sendAtRate, type RateResult } from '../http/constant-rate.ts';
import { dayQuery, listDates, readDay, saveDay } from '../http/journal-requests.ts';
import { load } from '../http/load.ts';
import { signUpPeople, type Person } from '../http/people.ts';
import { residentMegabytes, startProduct } from '../processes.ts';

import { openSeededDatabase, writeYears } from '../seeded-database.ts';
import type { FloodKind, FloodPlan } from './flood.ts';

const SAVERS = 10;
const SAVES_PER_SECOND = 20;
const SECONDS = 10;
const FLOODERS = 100;
const CONNECTIONS = 1_000;
const MAX_MEGABYTES = 400;
const MAX_P99_FACTOR = 5;
const MAX_P99_MS = 250;

/**
 * Each user has an address of its own, and as many connections as a browser opens. They stay open between the
 * measurements.
 */
const browsers = Array.from(
  { length: SAVERS },
  (_, index) => new Agent({ keepAlive: true, maxSockets: 6, localAddress: `127.0.200.${index + 1}` }),
);

const database = await openSeededDatabase();
const app = await startProduct(database);
try {
  const people = await signUpPeople(app.url, SAVERS + FLOODERS);
  await writeYears(database.url);
  const savers = people.slice(0, SAVERS);
  const flooders = people.slice(SAVERS);
  const maximum = (await load(app.url, people, saveDay)).requests.average;
  const quiet = await saveAtRate(savers);
  printFigures(`Ten users save ${SAVES_PER_SECOND} times a second, alone: ${describeLatencies(quiet.latencies)}`, [
    await saveDuringFlood('one account', savers, quiet, flooders.slice(0, 1), 1),
    await saveDuringFlood('one account from 50 addresses', savers, quiet, flooders.slice(0, 1), 50),
    await saveDuringFlood('one address with 100 accounts', savers, quiet, flooders, 1),
  ]);
  printFigures(`A flood by thousands of connections (maximum rate: ${Math.round(maximum)} saves a second)`, [
    ...(await floodWithEverything(savers, flooders, quiet)),
  ]);
} finally {
  for (const browser of browsers) browser.destroy();
  await app.stop();
  await database.close();
}

function saveAtRate(savers: readonly Person[], seconds: number = SECONDS): Promise<RateResult> {
  return sendAtRate({
    url: app.url,
    rate: SAVES_PER_SECOND,
    seconds,
    make: (index) => saveDay(savers[index % SAVERS]!, index),
    agentOf: (index) => browsers[index % SAVERS]!,
  });
}

async function saveDuringFlood(
  what: string,
  savers: readonly Person[],
  quiet: RateResult,
  flooders: readonly Person[],
  addresses: number,
): Promise<Figure> {
  const requests = flooders.flatMap((person, index) => [readDay(person, index), saveDay(person, index)].map(toText));
  const flood = await startFlood({ addresses, kinds: [{ kind: 'requests', connections: CONNECTIONS, requests }] });
  const stormy = await saveAtRate(savers);
  const answers = await flood.stop();
  const [before, during] = [percentile(quiet.latencies, 99), percentile(stormy.latencies, 99)];
  const failures = failuresOf(stormy);
  return {
    what: `while ${what} floods with ${CONNECTIONS.toLocaleString('en')} connections`,
    measured:
      `p99 ${(during / before).toFixed(1)}x (${describeLatencies(stormy.latencies)}), ${failures} not saved; ` +
      `the flood: ${describeAnswers(answers)}`,
    target: `at most ${MAX_P99_FACTOR}x or ${MAX_P99_MS} ms, all saved`,
    isMet: failures === 0 && (during <= before * MAX_P99_FACTOR || during <= MAX_P99_MS),
  };
}

async function floodWithEverything(
  savers: readonly Person[],
  flooders: readonly Person[],
  quiet: RateResult,
): Promise<Figure[]> {
  const before = await residentMegabytes(app.pid);
  const head = (request: Request, length: number): string =>
    toText({ ...request, body: undefined }).replace('\r\n\r\n', `\r\nContent-Length: ${length}\r\n\r\n`);
  const reads = flooders.map((person, index) => toText(readDay(person, index)));
  const saves = flooders.map((person, index) => toText(saveDay(person, index)));
  const all = flooders.map(({ id, token }) =>
    toText({
      path: `/rest/v1/entries?${dayQuery(id).replace(/&date=.*/, '')}`,
      headers: { authorization: `Bearer ${token}` },
    }),
  );
  const signIn = toText({
    method: 'POST',
    path: '/auth/v1/token?grant_type=password',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"person-1@example.com","password":"wrong password"}',
  });
  const bodies = flooders.map((person, index) => head(saveDay(person, index), 1_500_000));
  const kinds: FloodKind[] = [
    {
      kind: 'requests',
      connections: 3_000,
      requests: [...reads, ...saves, ...flooders.map((p, i) => toText(listDates(p, i)))],
    },
    {
      kind: 'requests',
      connections: 200,
      requests: ['GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n', signIn],
    },
    { kind: 'pipelined', connections: 100, requests: reads },
    { kind: 'slow', connections: 400, requests: [...bodies, head({ method: 'POST', path: '/auth/v1/token' }, 5_000)] },
    { kind: 'slow', connections: 200, requests: ['GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '] },
    { kind: 'unread', connections: 200, requests: all },
    { kind: 'large', connections: 100, requests: bodies },
  ];
  const flood = await startFlood({ addresses: 40, kinds });
  let highest = before ?? 0;
  const probes: number[] = [];
  let unanswered = 0;
  const watching = new AbortController();
  const watch = (async () => {
    while (!watching.signal.aborted) {
      highest = Math.max(highest, (await residentMegabytes(app.pid)) ?? 0);
      const at = performance.now();
      const isUp = await fetch(`${app.url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) probes.push(performance.now() - at);
      else unanswered += 1;
      await delay(100);
    }
  })();
  const stormy = await saveAtRate(savers, SECONDS * 2);
  watching.abort();
  await watch;
  const answers = await flood.stop();
  const after = await saveAtRate(savers, 5);
  const connections = kinds.reduce((sum, kind) => sum + kind.connections, 0);
  return [
    {
      what: `memory with ${connections.toLocaleString('en')} connections that read, save, pipeline, trickle and do not read`,
      measured: `${before?.toFixed(0)} MB before, ${highest.toFixed(0)} MB at most (${describeAnswers(answers)})`,
      target: `at most ${MAX_MEGABYTES} MB`,
      isMet: before !== null && highest <= MAX_MEGABYTES,
    },
    {
      what: 'health checks meanwhile',
      measured: `${describeLatencies(probes)}, ${unanswered} without an answer`,
      target: 'all answered',
      isMet: unanswered === 0,
    },
    {
      what: 'saves of ten users meanwhile, and afterwards',
      measured:
        `${describeLatencies(stormy.latencies)}, ${failuresOf(stormy)} of ${SAVES_PER_SECOND * SECONDS * 2} not saved; ` +
        `then ${describeLatencies(after.latencies)}, ${failuresOf(after)} not saved`,
      target: 'all saved; afterwards as before',
      isMet:
        failuresOf(stormy) + failuresOf(after) === 0 &&
        percentile(after.latencies, 50) < 3 * percentile(quiet.latencies, 50),
    },
  ];
}

type Flood = { stop(): Promise<Record<string, number>> };

async function startFlood(plan: Pick<FloodPlan, 'addresses' | 'kinds'>): Promise<Flood> {
  const full: FloodPlan = { ...plan, port: Number(new URL(app.url).port), firstAddress: 1 };
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'flood.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin!.end(JSON.stringify(full));
  const printed = text(child.stdout!);
  await delay(2_000);
  return {
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      return JSON.parse(await printed) as Record<string, number>;
    },
  };
}

function describeAnswers(answers: Record<string, number>): string {
  return Object.entries(answers)
    .map(([status, count]) => `${status}: ${count.toLocaleString('en')}`)
    .join(', ');
}

function toText({ method = 'GET', path = '/', headers = {}, body = '' }: Request): string {
  const length =
    method === 'GET' || body === undefined || body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}\r\n${String(body ?? '')}`;
}
