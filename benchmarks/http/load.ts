/** Loads servers with requests of many users, and compares two servers. */
import autocannon from 'autocannon';
import { DAYS_EACH } from '../seeded-database.ts';
import type { MakeRequest } from './journal-requests.ts';

export const CONNECTIONS = 16;
const ROUNDS = 4;
const SECONDS = 3;
const WARM_UP_SECONDS = 2;
const REQUESTS_PER_PERSON = 4;
let connectionsOfProcess = 0;

/**
 * Repeats four requests of each person. Each connection starts at another request, so that no row is written
 * concurrently. Each connection also passes another `index` for the same day, so that every save changes the text: the
 * database does less for a save that changes nothing. Throws if the server rejects a request.
 */
export async function load<Person>(
  url: string,
  people: readonly Person[],
  make: MakeRequest<Person>,
  { connections = CONNECTIONS, ...options }: Partial<autocannon.Options> = {},
): Promise<autocannon.Result> {
  const count = people.length * REQUESTS_PER_PERSON;
  let client = 0;
  const result = await autocannon({
    url,
    connections,
    duration: SECONDS,
    setupClient(connection) {
      const from = Math.floor((client * count) / connections);
      const first = connectionsOfProcess++ * count;
      const requests = Array.from({ length: count }, (_, at) => {
        const index = (from + at) % count;
        return make(people[index % people.length]!, repeatDays(first + index, people.length));
      });
      client += 1;
      connection.setRequests(requests);
    },
    ...options,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} rejected and ${result.errors} failed requests`);
  }
  return result;
}

/**
 * The `index` of a run's request that repeats the same four days of each of `people` users, each time with another
 * text.
 */
export function repeatDays(request: number, people: number): number {
  const days = people * REQUESTS_PER_PERSON;
  return (request % days) + Math.floor(request / days) * DAYS_EACH * people;
}

/** Loads a server for some seconds and returns the number of answered requests. */
export type Turn = (seconds: number) => Promise<number>;

/** Requests a second. */
export type Rates = { ours: number; theirs: number; ratio: number };

/**
 * Alternates between both servers every few seconds and swaps their order each round, so that other load affects both
 * equally. Compares the sums of all rounds.
 */
export async function compareRates(turns: { ours: Turn; theirs: Turn }): Promise<Rates> {
  const done = { ours: 0, theirs: 0 };
  await turns.ours(WARM_UP_SECONDS);
  await turns.theirs(WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const turn of order) done[turn] += await turns[turn](SECONDS);
  }
  const seconds = ROUNDS * SECONDS;
  return { ours: done.ours / seconds, theirs: done.theirs / seconds, ratio: done.ours / done.theirs };
}

/** `1,234/s against 987/s` */
export const describeRates = ({ ours, theirs }: Rates): string =>
  `${Math.round(ours).toLocaleString('en')}/s against ${Math.round(theirs).toLocaleString('en')}/s`;
