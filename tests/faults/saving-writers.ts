/**
 * Writers that save over HTTP like the browser's saver: a save without an answer is compared with the row, and sent
 * again only if the row lacks it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { signUpAt, type SignedUp } from './processes.ts';

const RETRY_MS = 50;
/** The server and its database are back well within this time. */
const RECOVERY_MS = 60_000;

type Row = { id: string; revision: number; content: string };
type Writer = SignedUp & {
  /** Items that the server has confirmed, in order. */
  acknowledged: string[];
  attempted: number;
};

/** `sentAt` is a time of `performance.now()`. A save without an answer has the status null. */
export type Save = { sentAt: number; status: number | null };

export type SavingWriters = {
  /** All saves that have been answered, or given up without an answer. */
  readonly saves: readonly Save[];
  /** Each answer that neither succeeds nor asks for another try. */
  readonly unexpected: readonly string[];
  countAcknowledged(): number;
  /** Resolves when the writers have saved more than once each, counted from this call. */
  waitForSaves(): Promise<void>;
  /** Resolves when the last save of each writer is acknowledged. */
  stop(): Promise<void>;
  /** Ends the writers although a save is not acknowledged. */
  abandon(): void;
  /** Fails unless each writer has one row, with every acknowledged item once and in order. */
  expectStoredOnce(): Promise<void>;
};

/** Signs up `count` users, each of whom adds items to the log of today until `stop` is called. */
export async function startWriters(url: string, count: number): Promise<SavingWriters> {
  const today = dayOf(new Date());
  const saves: Save[] = [];
  const unexpected: string[] = [];
  let isStopping = false;
  let isAbandoned = false;
  const writers = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Writer> => {
      return { ...(await signUpAt(url, `writer-${index}@example.com`)), acknowledged: [], attempted: 0 };
    }),
  );

  /** Null: no answer, or one that asks for another try. */
  async function request(writer: Writer, method: string, query: string, body?: object): Promise<Row[] | null> {
    const save: Save = { sentAt: performance.now(), status: null };
    try {
      const answer = await fetch(`${url}/rest/v1/entries?${query}select=id,revision,content`, {
        method,
        headers: { ...writer.headers, prefer: 'return=representation' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      save.status = answer.status;
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as Row[];
      const isRetryable = answer.status === 503 && Number(answer.headers.get('retry-after')) > 0;
      if (!isRetryable && !text.includes('"23505"')) unexpected.push(`${method}: ${answer.status} ${text}`);
      return null;
    } catch {
      return null;
    } finally {
      if (method !== 'GET') saves.push(save);
    }
  }

  const ofDay = ({ userId }: Writer): string => `user_id=eq.${userId}&date=eq.${today}&`;
  const contentOf = (items: readonly string[]): string =>
    `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

  async function write(writer: Writer): Promise<void> {
    let row: Row | null = null;
    while (!isStopping) {
      const item = `item ${(writer.attempted += 1)}`;
      const content = contentOf([...writer.acknowledged, item]);
      for (let isStored = false; !isStored;) {
        if (isAbandoned) return;
        const answer: Row[] | null = row
          ? await request(writer, 'PATCH', `${ofDay(writer)}id=eq.${row.id}&revision=eq.${row.revision}&`, { content })
          : await request(writer, 'POST', '', {
              id: crypto.randomUUID(),
              user_id: writer.userId,
              date: today,
              content,
            });
        if (answer?.[0]) {
          row = answer[0];
          isStored = true;
          continue;
        }
        // The save may have been stored although its answer was lost.
        const found: Row[] | null = await request(writer, 'GET', ofDay(writer));
        if (!found) await delay(RETRY_MS);
        else row = found[0] ?? null;
        isStored = found?.[0]?.content.includes(`<p>${item}</p>`) ?? false;
      }
      writer.acknowledged.push(item);
    }
  }

  const writing = writers.map(write);
  const countAcknowledged = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  return {
    saves,
    unexpected,
    countAcknowledged,
    async waitForSaves() {
      const before = countAcknowledged();
      await expect.poll(countAcknowledged, { timeout: RECOVERY_MS }).toBeGreaterThan(before + count);
    },
    async stop() {
      isStopping = true;
      await Promise.all(writing);
    },
    abandon() {
      isStopping = true;
      isAbandoned = true;
    },
    async expectStoredOnce() {
      for (const writer of writers) {
        const rows = await request(writer, 'GET', `user_id=eq.${writer.userId}&`);
        expect(rows).toHaveLength(1);
        const stored = [...rows![0]!.content.matchAll(/<p>(item \d+)<\/p>/g)].map((match) => match[1]);
        expect(stored).toEqual(writer.acknowledged);
      }
    },
  };
}
