/**
 * The command line on a device, with its queue: it sends what waits with each call, and again after an answer that is
 * lost.
 */
import { dayOf } from '#domain/day/day.ts';
import { createQueue, type Item, type Outcome } from '../../src/cli/queue.ts';
import { createMemoryFolder } from '../support/memory-folder.ts';
import type { Device } from './browser/device.ts';

export const APPEND_PATH = '/functions/v1/append-item';
const RETRY_MS = 3_000;
const ACCOUNT = { server: 'http://world', account: 'one' };

export function createProgram({ device, send }: { device: Device; send: typeof fetch }) {
  const { clock, name, utcOffsetMinutes } = device;
  let count = 0;
  const queue = createQueue({
    pending: createMemoryFolder(),
    refused: createMemoryFolder(),
    now: () => new Date(clock.now()),
    createKey: () => `${name}-${String((count += 1))}`,
  });

  async function deliver({ text, date, key }: Item): Promise<Outcome> {
    // A request whose answer never comes is given up, as every client does.
    const timeout = new AbortController();
    clock.schedule(20_000, () => timeout.abort());
    const body = JSON.stringify({ text, date, key });
    const response = await send(ACCOUNT.server + APPEND_PATH, { method: 'POST', body, signal: timeout.signal }).catch(
      () => null,
    );
    if (response?.status === 200) return { is: 'appended', date: date! };
    return { is: 'later', why: String(response?.status), exitCode: 75 };
  }

  /** Calls overlap, as those of two processes do. */
  async function sync(): Promise<void> {
    const outcomes = await queue.send(ACCOUNT, deliver);
    if ([...outcomes.values()].some(({ is }) => is === 'later')) clock.schedule(RETRY_MS, () => void sync());
  }

  return {
    append(text: string): void {
      queue.add({ ...ACCOUNT, text, date: dayOf(new Date(clock.now() + utcOffsetMinutes * 60_000)) });
      void sync();
    },
    isWaiting: (): boolean => queue.waiting().length > 0,
  };
}
