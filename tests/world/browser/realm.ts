/**
 * The global objects of a tab: clock, timers, storage, network, locks and events. Several tabs share a process, so each
 * global looks up the tab whose code is running. Code outside of a tab gets the globals of Node.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import 'fake-indexeddb/auto';
import { countTasks } from './real-work.ts';
import type { BrowserChannels, BrowserLocks } from './locks.ts';
import type { TabClock, VirtualTimer } from './virtual-clock.ts';

export type Realm = {
  readonly clock: TabClock;
  readonly utcOffsetMinutes: number;
  readonly window: EventTarget;
  readonly document: EventTarget & { visibilityState: DocumentVisibilityState };
  readonly navigator: { readonly onLine: boolean; readonly locks: ReturnType<BrowserLocks['managerOf']> };
  readonly localStorage: Storage;
  readonly indexedDB: IDBFactory;
  readonly channels: BrowserChannels;
  readonly fetch: typeof fetch;
  /** After the tab was closed, its code starts no more timers. */
  readonly isClosed: () => boolean;
  readonly randomUUID: () => ReturnType<typeof crypto.randomUUID>;
  /** Undefined: the random numbers of Node. */
  readonly random: (() => number) | undefined;
};

const current = new AsyncLocalStorage<Realm>();

export const runInRealm = <T>(realm: Realm, run: () => T): T => current.run(realm, run);
export const runOutsideRealms = <T>(run: () => T): T => current.exit(run);

const MS_PER_MINUTE = 60_000;

function createDateClass(): DateConstructor {
  const RealDate = globalThis.Date;
  const local = (date: Date): Date =>
    new RealDate(date.getTime() + (current.getStore()?.utcOffsetMinutes ?? 0) * MS_PER_MINUTE);
  return class extends RealDate {
    constructor(...args: [] | [number]) {
      if (args.length > 0) super(...(args as [number]));
      else super(current.getStore()?.clock.now() ?? RealDate.now());
    }
    static override now(): number {
      return current.getStore()?.clock.now() ?? RealDate.now();
    }
    override getFullYear(): number {
      return local(this).getUTCFullYear();
    }
    override getMonth(): number {
      return local(this).getUTCMonth();
    }
    override getDate(): number {
      return local(this).getUTCDate();
    }
  } as DateConstructor;
}

type Globals = Record<string, PropertyDescriptor>;

/** Installs the globals of tabs. Returns a function that restores those of Node. */
export function installRealms(): () => void {
  const { setTimeout: setForReal, clearTimeout: clearForReal, fetch: fetchForReal } = globalThis;
  const uuidForReal = crypto.randomUUID.bind(crypto);
  const randomForReal = Math.random;
  const value = (of: unknown): PropertyDescriptor => ({ value: of, configurable: true, writable: true });
  const perRealm = (name: keyof Realm): PropertyDescriptor => {
    const original = Object.getOwnPropertyDescriptor(globalThis, name);
    const getOriginal = (): unknown => (original?.get ? original.get.call(globalThis) : original?.value);
    return { get: () => (current.getStore() ? current.getStore()![name] : getOriginal()), configurable: true };
  };
  const onWindow =
    (method: 'addEventListener' | 'removeEventListener') =>
    (...args: Parameters<EventTarget['addEventListener']>): void =>
      current.getStore()?.window[method](...args);

  const globals: Globals = {
    Date: value(createDateClass()),
    setTimeout: value((run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const realm = current.getStore();
      if (!realm) return setForReal(run, ms, ...args);
      const timer = realm.clock.schedule(ms, () => runInRealm(realm, () => run(...args)), realm);
      if (realm.isClosed()) realm.clock.cancel(timer);
      return timer;
    }),
    clearTimeout: value((timer: VirtualTimer | NodeJS.Timeout) => {
      const realm = current.getStore();
      if (realm && timer && 'order' in timer) realm.clock.cancel(timer);
      else clearForReal(timer as NodeJS.Timeout);
    }),
    fetch: value((...request: Parameters<typeof fetch>) => (current.getStore()?.fetch ?? fetchForReal)(...request)),
    BroadcastChannel: value(function openChannel(name: string) {
      const realm = current.getStore()!;
      return realm.channels.open(name, realm);
    }),
    addEventListener: value(onWindow('addEventListener')),
    removeEventListener: value(onWindow('removeEventListener')),
    ...Object.fromEntries(
      (['document', 'navigator', 'localStorage', 'indexedDB'] as const).map((name) => [name, perRealm(name)]),
    ),
  };
  const originals = Object.keys(globals).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  Object.defineProperties(globalThis, globals);
  crypto.randomUUID = () => current.getStore()?.randomUUID() ?? uuidForReal();
  Math.random = () => (current.getStore()?.random ?? randomForReal)();
  const timeoutForReal = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    if (!current.getStore()) return timeoutForReal(ms);
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('timed out', 'TimeoutError')), ms);
    return controller.signal;
  };
  const stopCounting = countTasks();
  return () => {
    stopCounting();
    crypto.randomUUID = uuidForReal;
    Math.random = randomForReal;
    AbortSignal.timeout = timeoutForReal;
    for (const [name, original] of originals) {
      if (original) Object.defineProperty(globalThis, name, original);
      else Reflect.deleteProperty(globalThis, name);
    }
  };
}
