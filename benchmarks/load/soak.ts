/**
 * Half of the maximum load for five minutes, or `--minutes=60`: reads, lists, saves, sign-ins and open streams. Fits a
 * line through the server's memory after the warm-up, and computes the standard error of its slope.
 */
import { Agent, get, type ClientRequest } from 'node:http';
import { parseArgs } from 'node:util';
import type { Request } from 'autocannon';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { printFigures } from '../figures.ts';
import { describeFailures, describeLatencies, failuresOf, sendAtRate } from '../http/constant-rate.ts';
import { listDates, readDay, saveDay } from '../http/journal-requests.ts';
import { load } from '../http/load.ts';
import { PASSWORD, renewTokens, signUpPeople, type Person } from '../http/people.ts';
import { residentMegabytes, startProduct } from '../processes.ts';
import { openSeededDatabase, writeYears } from '../seeded-database.ts';

const PEOPLE = 100;
const STREAMS = 100;
const SAMPLE_MS = 1_000;
/**
 * Garbage collection moves the samples of neighbouring seconds together. So the line is fitted to means of blocks:
 * otherwise its standard error would be too small.
 */
const BLOCK_SAMPLES = 15;
/** The load is sent in legs. Only the last leg's latencies are kept, so that the generator's memory does not grow. */
const LEG_SECONDS = 60;
const RENEWAL_MINUTES = 30;
const MAX_GROWTH_MB = 5;

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '5' } } });
const minutes = Number(options.minutes);
const warmUpMinutes = minutes > 20 ? 10 : 1;

const database = await openSeededDatabase();
const app = await startProduct(database);
const agent = new Agent({ maxSockets: Infinity });
const streams: ClientRequest[] = [];
const samples: { minute: number; megabytes: number }[] = [];
const startedAt = performance.now();
const sampling = setInterval(() => void sample(), SAMPLE_MS);
try {
  const people = await signUpPeople(app.url, PEOPLE);
  await writeYears(database.url);
  const maximum = Math.min(
    (await load(app.url, people, saveDay)).requests.average,
    (await load(app.url, people, readDay)).requests.average,
  );
  for (let index = 0; index < STREAMS; index += 1) streams.push(openStream(people[index % PEOPLE]!));
  const rate = maximum / 2;
  const began = (performance.now() - startedAt) / 60_000;
  const statuses = new Map<number, number>();
  let last: readonly number[] = [];
  for (let leg = 0; leg < minutes; leg += LEG_SECONDS / 60) {
    if (leg % RENEWAL_MINUTES === RENEWAL_MINUTES - 1) await renewTokens(app.url, people);
    const result = await sendAtRate({ url: app.url, rate, seconds: LEG_SECONDS, make: (index) => mix(people, index) });
    for (const [status, count] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    last = result.latencies;
  }
  const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const failures = failuresOf({ statuses });
  const settled = samples.filter(({ minute }) => minute >= began + warmUpMinutes);
  const { slope, error } = fitLine(toBlocks(settled));
  const grown = slope * (minutes - warmUpMinutes);
  const sure = Math.max(0, slope - 2 * error) * (minutes - warmUpMinutes);
  printFigures(`${minutes} minutes at ${Math.round(rate)} requests a second, half of the maximum`, [
    {
      what: `memory after the first ${warmUpMinutes === 1 ? 'minute' : `${warmUpMinutes} minutes`}`,
      measured:
        `${slope.toFixed(2)} ± ${(2 * error).toFixed(2)} MB a minute, ${grown.toFixed(1)} MB in all ` +
        `(from ${mean(settled.slice(0, 60)).toFixed(0)} to ${mean(settled.slice(-60)).toFixed(0)} MB)`,
      target: `no growth that its error does not explain, beyond ${MAX_GROWTH_MB} MB`,
      isMet: sure <= MAX_GROWTH_MB,
    },
    {
      what: 'errors',
      measured: `${failures} of ${sent.toLocaleString('en')}${failures > 0 ? `: ${describeFailures({ statuses })}` : ''} (the last minute: ${describeLatencies(last)})`,
      target: 'none',
      isMet: failures === 0,
    },
  ]);
} finally {
  clearInterval(sampling);
  for (const stream of streams) stream.destroy();
  agent.destroy();
  await app.stop();
  await database.close();
}

async function sample(): Promise<void> {
  const megabytes = await residentMegabytes(app.pid);
  if (megabytes !== null) samples.push({ minute: (performance.now() - startedAt) / 60_000, megabytes });
}

/** A thousand requests are 600 reads, 300 saves, 99 lists and one sign-in. */
function mix(people: readonly Person[], index: number): Request {
  const person = people[index % PEOPLE]!;
  const turn = (index * 7) % 1_000;
  if (turn < 600) return readDay(person, index);
  if (turn < 900) return saveDay(person, index);
  if (turn < 999) return listDates(person, index);
  return {
    method: 'POST',
    path: '/auth/v1/token?grant_type=password',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: person.email, password: PASSWORD }),
  };
}

function openStream({ token }: Person): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, apikey: PUBLISHABLE_KEY };
  return get(`${app.url}/functions/v1/changes`, { headers, agent }, (stream) => {
    stream.on('error', () => undefined).resume();
  }).on('error', () => undefined);
}

type Sample = { minute: number; megabytes: number };

function mean(of: readonly Sample[]): number {
  return of.reduce((sum, { megabytes }) => sum + megabytes, 0) / of.length;
}

function toBlocks(of: readonly Sample[]): Sample[] {
  const blocks: Sample[] = [];
  for (let from = 0; from + BLOCK_SAMPLES <= of.length; from += BLOCK_SAMPLES) {
    const block = of.slice(from, from + BLOCK_SAMPLES);
    blocks.push({ minute: block[0]!.minute, megabytes: mean(block) });
  }
  return blocks;
}

/** Least squares: the slope in MB a minute, and its standard error. */
function fitLine(of: readonly Sample[]): { slope: number; error: number } {
  const centre = of.reduce((sum, { minute }) => sum + minute, 0) / of.length;
  const level = mean(of);
  const spread = of.reduce((sum, { minute }) => sum + (minute - centre) ** 2, 0);
  const slope = of.reduce((sum, { minute, megabytes }) => sum + (minute - centre) * (megabytes - level), 0) / spread;
  const rest = of.reduce((sum, { minute, megabytes }) => sum + (megabytes - level - slope * (minute - centre)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (of.length - 2) / spread) };
}
