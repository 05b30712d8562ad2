/** A program on a device that appends items, such as a command line: it sends each item again until the server has it. */
import { dayOf, type Day } from '#domain/day/day.ts';
import type { Device } from './browser/device.ts';

export const APPEND_PATH = '/functions/v1/append-item';
const RETRY_MS = 3_000;

type Item = { text: string; date: Day; key: string };

export function createProgram({ device, send }: { device: Device; send: typeof fetch }) {
  const { clock, name, utcOffsetMinutes } = device;
  let queue: Item[] = [];
  let count = 0;

  async function deliver(item: Item): Promise<void> {
    // A request whose answer never comes is given up, as every client does.
    const timeout = new AbortController();
    clock.schedule(20_000, () => timeout.abort());
    const response = await send(`http://world${APPEND_PATH}`, {
      method: 'POST',
      body: JSON.stringify(item),
      signal: timeout.signal,
    }).catch(() => null);
    if (response?.status === 200) queue = queue.filter((other) => other !== item);
    else clock.schedule(RETRY_MS, () => queue.includes(item) && void deliver(item));
  }

  return {
    append(text: string): void {
      const today = dayOf(new Date(clock.now() + utcOffsetMinutes * 60_000));
      count += 1;
      const item = { text, date: today, key: `${name}-${String(count)}` };
      queue.push(item);
      void deliver(item);
    },
    isWaiting: (): boolean => queue.length > 0,
  };
}
