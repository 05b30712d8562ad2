/**
 * Opens 1,000 streams of changes on one server while another server on the same database saves. Measures the time from
 * sending a save until its events have arrived, and the memory of a stream.
 */
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { dayOf } from '#domain/day/day.ts';
import type { DayChange } from '#domain/live-event.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { percentile, printFigures } from './figures.ts';
import { residentMegabytes, startProduct } from './processes.ts';
import { createLogHtml, openSeededDatabase } from './seeded-database.ts';

const PEOPLE = 100;
/** The limit of streams of one user. */
const STREAMS_EACH = 10;
const STREAMS = PEOPLE * STREAMS_EACH;
const SAVES = 1_000;
const SAVES_PER_SECOND = 50;
const SETTLE_MS = 3_000;

type Person = { id: string; headers: Record<string, string> };
type Row = { id: string; revision: number };

const today = dayOf(new Date());
const database = await openSeededDatabase();
const streaming = await startProduct(database);
const saving = await startProduct(database);
const agent = new Agent({ maxSockets: Infinity });
/** The times at which the events of a save arrived. The key is the row's id and revision. */
const arrivals = new Map<string, number[]>();
try {
  const people: Person[] = [];
  for (let index = 0; index < PEOPLE; index += 1) people.push(await signUp(index));
  for (const person of people) await save(person, 'POST', -1);

  // A warm-up: these streams are closed before the measurement, so that loaded code and a grown heap are not counted.
  const warm = await openStreams(people, 1);
  await saveAll(people, SAVES);
  for (const stream of warm) stream.destroy();
  await delay(SETTLE_MS);
  const before = await residentMegabytes(streaming.pid);
  await openStreams(people, STREAMS_EACH);
  await delay(SETTLE_MS);
  const open = await residentMegabytes(streaming.pid);

  const sentAt = await saveAll(people, 0);
  await delay(SETTLE_MS);
  const after = await residentMegabytes(streaming.pid);
  const delays = [...sentAt].flatMap(([key, at]) => (arrivals.get(key) ?? []).map((arrived) => arrived - at));
  const p95 = percentile(delays, 95);
  const missing = sentAt.size * STREAMS_EACH - delays.length;
  const kilobytes = (from: number | null, to: number | null): string =>
    from === null || to === null ? 'not measured on this system' : `${(((to - from) * 1024) / STREAMS).toFixed(1)} KB`;
  printFigures(`${STREAMS} open streams on one process, ${SAVES_PER_SECOND} saves a second on another`, [
    {
      what: 'from sending a save until its events arrive',
      measured:
        `p50 ${percentile(delays, 50).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, ` +
        `${delays.length} events of ${sentAt.size} saves, ${missing} missing`,
      target: 'p95 at most 1,000 ms, none missing',
      isMet: p95 <= 1_000 && missing === 0,
    },
    {
      what: 'memory of a stream',
      measured: `${kilobytes(before, open)} once open, ${kilobytes(before, after)} after the saves`,
      target: 'at most 40 KB',
      isMet: before !== null && open !== null && ((open - before) * 1024) / STREAMS <= 40,
    },
  ]);
} finally {
  agent.destroy();
  await Promise.all([streaming.stop(), saving.stop()]);
  await database.close();
}

async function signUp(index: number): Promise<Person> {
  const answer = await fetch(`${saving.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `person-${index}@example.com`, password: 'correct horse battery' }),
  });
  const session = (await answer.json()) as { access_token: string; user: { id: string } };
  return { id: session.user.id, headers: { authorization: `Bearer ${session.access_token}`, apikey: PUBLISHABLE_KEY } };
}

/** Sends saves at a fixed rate. Returns when each was sent, by row and revision. `variant` makes the texts new. */
async function saveAll(people: readonly Person[], variant: number): Promise<Map<string, number>> {
  const sentAt = new Map<string, number>();
  const pending: Promise<void>[] = [];
  for (let number = 0; number < SAVES; number += 1) {
    const at = performance.now();
    const sending = save(people[number % PEOPLE]!, 'PATCH', variant + number);
    pending.push(sending.then(({ id, revision }) => void sentAt.set(`${id} ${revision}`, at)));
    await delay(1_000 / SAVES_PER_SECOND);
  }
  await Promise.all(pending);
  return sentAt;
}

async function save({ id, headers }: Person, method: 'POST' | 'PATCH', variant: number): Promise<Row> {
  const query = method === 'PATCH' ? `user_id=eq.${id}&date=eq.${today}&` : '';
  const answer = await fetch(`${saving.url}/rest/v1/entries?${query}select=id,revision`, {
    method,
    headers: { ...headers, prefer: 'return=representation', 'content-type': 'application/json' },
    body: JSON.stringify({
      ...(method === 'POST' && { user_id: id, date: today }),
      content: createLogHtml(variant + 1),
    }),
  });
  const [row] = (await answer.json()) as Row[];
  if (!row) throw new Error(`a save was answered with ${answer.status}`);
  return row;
}

/** Opens one stream after the other and waits for the first event of each. */
async function openStreams(people: readonly Person[], each: number): Promise<IncomingMessage[]> {
  const streams: IncomingMessage[] = [];
  for (let round = 0; round < each; round += 1) {
    for (const { headers } of people) streams.push(await openStream(headers));
  }
  return streams;
}

function openStream(headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = get(`${streaming.url}/functions/v1/changes`, { headers, agent }, (stream) => {
      let rest = '';
      stream.setEncoding('utf8').on('data', (piece: string) => {
        const frames = (rest + piece).split('\n\n');
        rest = frames.pop()!;
        for (const frame of frames) receive(frame);
        if (frames.some((frame) => frame.includes('event: '))) resolve(stream);
      });
      stream.on('error', () => undefined);
    });
    outgoing.on('error', reject);
  });
}

function receive(frame: string): void {
  const data = /^data: (\{"date".*)$/m.exec(frame)?.[1];
  if (data === undefined) return;
  const { id, revision } = JSON.parse(data) as DayChange;
  const key = `${id} ${revision}`;
  arrivals.set(key, [...(arrivals.get(key) ?? []), performance.now()]);
}
