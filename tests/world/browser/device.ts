/** A simulated browser on one device: its session, its network, and its storage, which outlives the tabs. */
import { IDBFactory } from 'fake-indexeddb';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { MemoryStorage } from '../../support/day-saver-harness.ts';
import type { ServerRequest, ServerResponse } from '../server/world-server.ts';
import { createChannels, createLocks, type BrowserChannels, type BrowserLocks } from './locks.ts';
import { runOutsideRealms } from './realm.ts';
import type { RealWork } from './real-work.ts';
import type { TabClock } from './virtual-clock.ts';

/**
 * The fault of a request. `lost` is what does not arrive: the request at the server, or the answer at the browser. The
 * browser gets a network error at once (`reset`) or never gets an answer (`silent`).
 */
export type RequestFault = { lost: 'request' | 'answer'; how: 'reset' | 'silent'; killServer: boolean };

const HOUR_MS = 3_600_000;
/** A token is renewed this long before it expires. */
const RENEWAL_MS = 60_000;

export type DeviceOptions = {
  name: string;
  userId: string;
  clock: TabClock;
  work: RealWork;
  issueToken: (issuedAt: number) => Promise<string>;
  /** Sends a request to the server. */
  send: (request: ServerRequest) => Promise<ServerResponse>;
  killServer: () => Promise<void>;
  utcOffsetMinutes: number;
  latencyMs: number;
  /** Called when the server has stored a write, also if its answer is then lost. */
  onWritten: (request: ServerRequest, response: ServerResponse) => void;
};

export type Device = ReturnType<typeof createDevice>;

export function createDevice(options: DeviceOptions) {
  const { name, userId, clock, work, utcOffsetMinutes, latencyMs, issueToken, send, killServer, onWritten } = options;
  const locks: BrowserLocks = createLocks();
  const channels: BrowserChannels = createChannels(clock);
  let token: { text: string; issuedAt: number } | null = null;
  /** Each rejects a request that is in flight when the device goes offline. */
  const onOffline = new Set<() => void>();

  const device = {
    name,
    userId,
    clock,
    work,
    utcOffsetMinutes,
    locks,
    channels,
    localStorage: new MemoryStorage(),
    indexedDB: new IDBFactory(),
    isOnline: true,
    /** The server rejects the device's tokens, and the device cannot renew them. */
    isSessionExpired: false,
    /** The faults of the device's next requests, in order. */
    faults: [] as RequestFault[],

    goOffline(): void {
      device.isOnline = false;
      for (const reject of onOffline) reject();
    },

    async getToken(): Promise<string> {
      const now = clock.now();
      const issuedAt = device.isSessionExpired ? now - 2 * HOUR_MS : now;
      const isUsable = token !== null && now - token.issuedAt < HOUR_MS - RENEWAL_MS;
      if (!token || isUsable === device.isSessionExpired) {
        const text = await work.track(runOutsideRealms(() => issueToken(issuedAt)));
        token = { text, issuedAt };
      }
      return token.text;
    },

    async fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const headers = Object.fromEntries(new Headers(init.headers));
      const request: ServerRequest = {
        ...{ method: init.method ?? 'GET', path: pathname + search, headers },
        body: typeof init.body === 'string' ? init.body : '',
      };
      let fail = (): void => {};
      const failing = new Promise<never>((_, reject) => {
        fail = () => reject(new TypeError('network error'));
        init.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error));
      });
      // Attach a handler, because a rejection after the answer would be an unhandled one.
      failing.catch(() => {});
      if (device.isOnline) onOffline.add(fail);
      else clock.schedule(1, fail);
      const outcomes = device.isOnline ? [failing, carry(request)] : [failing];
      const answer = await Promise.race(outcomes).finally(() => onOffline.delete(fail));
      return new Response(answer.status === 204 ? null : answer.text, {
        status: answer.status,
        headers: answer.headers,
      });
    },
  };

  /** Carries a request to the server and its answer back, even if the tab that sent it has been closed meanwhile. */
  async function carry(request: ServerRequest): Promise<ServerResponse> {
    const fault = device.faults.shift();
    const lose = (): Promise<never> =>
      fault?.how === 'silent' ? new Promise(() => {}) : Promise.reject(new TypeError('connection reset'));
    await clock.delay(latencyMs / 2);
    if (!device.isOnline || fault?.lost === 'request') {
      if (fault?.killServer) await work.track(runOutsideRealms(() => killServer()));
      return lose();
    }
    const response = await work.track(runOutsideRealms(() => send(request)));
    if (request.method !== 'GET' && response.status < 300) onWritten(request, response);
    if (fault?.killServer) await work.track(runOutsideRealms(() => killServer()));
    await clock.delay(latencyMs / 2);
    return fault ? lose() : response;
  }

  return device;
}

/** Adds the session of the device to a request, like `withSession` of the product's client. */
export const withSessionOf =
  (device: Device) =>
  (base: typeof fetch): typeof fetch =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('apikey', PUBLISHABLE_KEY);
    headers.set('authorization', `Bearer ${await device.getToken()}`);
    return base(input, { ...init, headers });
  };
