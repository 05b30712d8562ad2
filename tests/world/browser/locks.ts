/** Simulates the Web Locks and the broadcast channels of one browser, which its tabs share. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TabClock } from './virtual-clock.ts';

type LockCallback = (lock: { name: string } | null) => Promise<unknown>;
type LockOptions = { ifAvailable?: boolean };
type Request = { name: string; tab: object; grant: () => void };

export type BrowserLocks = ReturnType<typeof createLocks>;

export function createLocks() {
  const held = new Map<string, Request>();
  let waiting: Request[] = [];

  function release(request: Request): void {
    if (held.get(request.name) !== request) return;
    held.delete(request.name);
    const next = waiting.find(({ name }) => name === request.name);
    if (!next) return;
    waiting = waiting.filter((other) => other !== next);
    hold(next);
  }

  function hold(request: Request): void {
    held.set(request.name, request);
    queueMicrotask(request.grant);
  }

  return {
    /** `navigator.locks` of a tab. */
    managerOf: (tab: object) => ({
      request(name: string, ...rest: [LockCallback] | [LockOptions, LockCallback]): Promise<unknown> {
        const callback = rest.at(-1) as LockCallback;
        const { ifAvailable = false } = rest.length > 1 ? (rest[0] as LockOptions) : {};
        // The callback runs with the globals of the tab that requests the lock, even if another tab releases it.
        const runInTab = AsyncLocalStorage.snapshot();
        return new Promise((resolve, reject) => {
          const run = (lock: { name: string } | null) => runInTab(() => callback(lock)).then(resolve, reject);
          if (ifAvailable && held.has(name)) return queueMicrotask(() => void run(null));
          const request: Request = { name, tab, grant: () => void run({ name }).finally(() => release(request)) };
          if (held.has(name)) waiting.push(request);
          else hold(request);
        });
      },
      query: async () => ({ held: [...held.values()].map(({ name }) => ({ name })) }),
    }),

    releaseAll(tab: object): void {
      waiting = waiting.filter((request) => request.tab !== tab);
      for (const request of held.values()) if (request.tab === tab) release(request);
    },
  };
}

type Channel = { name: string; tab: object; listeners: Set<(event: MessageEvent) => void> };
export type BrowserChannels = ReturnType<typeof createChannels>;

const MESSAGE_MS = 1;

export function createChannels(clock: TabClock) {
  let channels: Channel[] = [];
  return {
    open(name: string, tab: object) {
      const channel: Channel = { name, tab, listeners: new Set() };
      channels.push(channel);
      const runInTab = AsyncLocalStorage.snapshot();
      return {
        addEventListener: (_type: 'message', listener: (event: MessageEvent) => void) =>
          void channel.listeners.add((event) => runInTab(() => listener(event))),
        postMessage(data: unknown): void {
          const event = { data: structuredClone(data) } as MessageEvent;
          for (const other of channels) {
            if (other === channel || other.name !== name) continue;
            clock.schedule(MESSAGE_MS, () => other.listeners.forEach((listener) => listener(event)), other.tab);
          }
        },
        close: () => void (channels = channels.filter((other) => other !== channel)),
      };
    },

    closeAll(tab: object): void {
      channels = channels.filter((channel) => channel.tab !== tab);
    },
  };
}
