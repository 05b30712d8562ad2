/**
 * Light writers: each adds items to today's log of its own account, one save at a time. A save without an answer is
 * compared with the stored row, and sent again only if the row lacks it. They repeat a failed save much sooner than a
 * browser, so they show to a tenth of a second when saves are accepted again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { addDays, dayOf, type Day } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { createClient, signUp, type Client } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { Answer } from './outage.ts';
import { itemsOf } from '../world/browser/tab.ts';

const PACE_MS = 200;
const RETRY_MS = 100;
const TIMEOUT_MS = 3_000;
/** A writer moves on to the day before once a log has this many items, because each save sends the whole log. */
const ITEMS_OF_A_DAY = 150;

type Row = { id: string; revision: number; content: string };
export type Failure = { at: number; kind: string };

export type Writers = {
  readonly answers: readonly Answer[];
  readonly failures: readonly Failure[];
  stop(): Promise<void>;
};

const contentOf = (items: readonly string[]): string =>
  `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

export async function startWriters(count: number, certificate: string, ledger: Ledger): Promise<Writers> {
  const answers: Answer[] = [];
  const failures: Failure[] = [];
  const stopping = new AbortController();
  const clients = Array.from({ length: count }, (_, index) => createClient(index, certificate));
  const sessions = await Promise.all(clients.map((client, index) => signUp(client, `writer-${String(index)}`)));

  async function write(client: Client, userId: string, token: string): Promise<void> {
    const headers = {
      apikey: PUBLISHABLE_KEY,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      prefer: 'return=representation',
    };

    async function request(method: string, query: string, body?: object): Promise<Row[] | null> {
      const path = `/rest/v1/entries?${query}select=id,revision,content`;
      try {
        const answer = await client.send({ method, path, headers, body: JSON.stringify(body) ?? '' }, TIMEOUT_MS);
        if (answer.status < 300) return JSON.parse(answer.text) as Row[];
        const retryAfter = answer.headers['retry-after'] === undefined ? '' : ' with Retry-After';
        failures.push({ at: Date.now(), kind: `${String(answer.status)}${retryAfter}` });
      } catch (error) {
        failures.push({ at: Date.now(), kind: kindOf(error) });
      }
      return null;
    }

    /** Resolves with the row that has the item, or with null if the writers stop first. */
    async function save(date: Day, row: Row | null, item: string): Promise<Row | null> {
      const ofDay = `user_id=eq.${userId}&date=eq.${date}&`;
      let current = row;
      while (!stopping.signal.aborted) {
        const sentAt = Date.now();
        const content = contentOf([...itemsOf(current?.content ?? ''), item]);
        const answer = current
          ? await request('PATCH', `${ofDay}id=eq.${current.id}&revision=eq.${String(current.revision)}&`, { content })
          : await request('POST', '', { id: crypto.randomUUID(), user_id: userId, date, content });
        if (answer?.[0]) {
          answers.push({ sentAt, answeredAt: Date.now() });
          return answer[0];
        }
        await delay(RETRY_MS);
        // The save may have been stored although its answer was lost.
        const found = await request('GET', ofDay);
        if (found) current = found[0] ?? null;
        if (found && current && itemsOf(current.content).includes(item)) return current;
      }
      return null;
    }

    const today = dayOf(new Date());
    let row: Row | null = null;
    for (let number = 0; ; number += 1) {
      if (number % ITEMS_OF_A_DAY === 0) row = null;
      const date = addDays(today, -Math.floor(number / ITEMS_OF_A_DAY));
      const item = `item ${String(number)}`;
      row = await save(date, row, item);
      if (!row) return;
      ledger.acknowledge(userId, [item]);
      await delay(PACE_MS);
    }
  }

  const writing = clients.map((client, index) =>
    write(client, sessions[index]!.user.id, sessions[index]!.access_token),
  );
  return {
    answers,
    failures,
    async stop() {
      stopping.abort();
      await Promise.all(writing);
      for (const client of clients) client.close();
    },
  };
}

function kindOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  return name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : (code ?? message);
}
