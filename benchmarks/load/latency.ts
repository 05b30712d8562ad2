/**
 * Measures what the server adds to a save at 70 % of the maximum rate: the p99 over HTTP minus the p99 of the same
 * statement sent to the database directly at the same time. Requests have a constant rate (`http/constant-rate.ts`).
 */
import pg from 'pg';
import { requestConnection } from '#server/database/roles.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { median, percentile, printFigures } from '../figures.ts';
import { describeLatencies, failuresOf, measureMaximum, sendAtRate } from '../http/constant-rate.ts';
import { someDay, saveDay } from '../http/journal-requests.ts';
import { CONNECTIONS, load, repeatDays } from '../http/load.ts';
import { signUpPeople, type Person } from '../http/people.ts';
import { startProduct } from '../processes.ts';
import { createLogHtml, openSeededDatabase, writeYears } from '../seeded-database.ts';

const PEOPLE = 100;
const SHARE_OF_MAXIMUM = 0.7;
const MAXIMUM_SECONDS = 10;
const WARM_UP_SECONDS = 3;
const SECONDS = 20;
const ROUNDS = 5;
const DIRECT_SAVES_PER_SECOND = 50;
const TARGET_MS = 25;

/** `above` in milliseconds. */
type Round = { above: number; failures: number; description: string };

const database = await openSeededDatabase();
const app = await startProduct(database);
try {
  const people = await signUpPeople(app.url, PEOPLE);
  await writeYears(database.url);
  await load(app.url, people, saveDay);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(people));
  const above = median(rounds.map((round) => round.above));
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
  for (const { description } of rounds) process.stdout.write(`${description}\n`);
  printFigures(`Saves at ${SHARE_OF_MAXIMUM * 100} % of the maximum rate, ${ROUNDS} rounds of ${SECONDS} s`, [
    {
      what: 'p99 above that of the database, median of the rounds',
      measured: `${above.toFixed(1)} ms, ${failures} failures`,
      target: `at most ${TARGET_MS} ms, none`,
      isMet: above <= TARGET_MS && failures === 0,
    },
  ]);
} finally {
  await app.stop();
  await database.close();
}

async function measure(people: readonly Person[]): Promise<Round> {
  // The same 400 days in every part of a round, so that the maximum is that of the same work.
  const make = (index: number) => saveDay(people[index % PEOPLE]!, repeatDays(index, PEOPLE));
  const closedLoop = { url: app.url, connections: CONNECTIONS, seconds: MAXIMUM_SECONDS, make };
  const maximum = await measureMaximum(closedLoop);
  const rate = maximum * SHARE_OF_MAXIMUM;
  const stopping = new AbortController();
  const direct = saveDirectly(people, stopping.signal);
  const saves = await sendAtRate({ url: app.url, rate, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS, make });
  stopping.abort();
  const directLatencies = await direct;
  const after = await measureMaximum(closedLoop);
  const above = percentile(saves.latencies, 99) - percentile(directLatencies, 99);
  return {
    above,
    failures: failuresOf(saves),
    description:
      `${above.toFixed(1)} ms: ${Math.round(rate)} saves a second, maximum ${Math.round(maximum)} before and ` +
      `${Math.round(after)} after; saves ${describeLatencies(saves.latencies)}; the database ${describeLatencies(directLatencies)}`,
  };
}

/** Runs the update of a save on a connection of its own, at a low constant rate, and returns its latencies. */
async function saveDirectly(people: readonly Person[], signal: AbortSignal): Promise<number[]> {
  const client = new pg.Client(requestConnection(database.url));
  await client.connect();
  await client.query('set role service_role');
  const latencies: number[] = [];
  const startedAt = performance.now();
  for (let index = 0; !signal.aborted; index += 1) {
    const dueAt = startedAt + (index * 1_000) / DIRECT_SAVES_PER_SECOND;
    await delay(Math.max(0, dueAt - performance.now()));
    const at = repeatDays(index + PEOPLE / 2, PEOPLE);
    const person = people[at % PEOPLE]!;
    await client.query({
      name: 'save',
      text: 'update entries set content = $3 where user_id = $1 and date = $2',
      values: [person.id, someDay(at), createLogHtml(-at)],
    });
    if (dueAt - startedAt >= WARM_UP_SECONDS * 1_000) latencies.push(performance.now() - dueAt);
  }
  await client.end();
  return latencies;
}
