/**
 * PayPal in one process: the books, the API over them, faults and commands. Without a network and fully determined by its
 * seed, its clock and what is asked of it; `server.ts` puts it on a port.
 */
import type { ApiRequest } from '../api-request.ts';
import { FaultQueue } from '../fault-queue.ts';
import { HeldRequests } from '../held-requests.ts';
import { PaypalApi } from './api/api.ts';
import type { ApiAnswer, Client } from './api/api.ts';
import { PaypalBooks } from './books/books.ts';
import { Ids } from './books/ids.ts';
import { errorBody, Refused } from './books/issues.ts';
import type { PaypalEvent } from './books/model.ts';
import type { Addresses } from './books/representations.ts';
import type { Fault } from './faults.ts';
import { toRequest, untilAborted } from './in-process.ts';
import { Outbox } from './webhooks/outbox.ts';

export const SANDBOX_CLIENT: Client = { id: 'sandbox-client', secret: 'sandbox-secret' };
/** Somebody else's account at PayPal: sees nothing of ours. */
const OTHER_CLIENT: Client = { id: 'other-client', secret: 'other-secret' };

/** The id of the webhook subscription, which is signed with every event. */
export const SANDBOX_WEBHOOK_ID = '5GP028458E2496506';

const LISTENER_PATH = '/functions/v1/paypal-webhook';
const KEPT_REQUESTS = 1000;

export type SimulatorOptions = {
  clock?: { now(): Date };
  /** Where payers see PayPal's pages: the product's origin, which passes `/sandbox` on. */
  publicUrl?: string;
  /** Where the API answers. */
  baseUrl?: string;
  seed?: number;
  /** How a delay is waited for; by default it is over at once. */
  wait?: (ms: number) => Promise<void>;
};

export type JournalEntry = {
  readonly method: string;
  readonly path: string;
  readonly requestId: string | null;
  readonly body: string;
  /** null: the connection broke. */
  readonly status: number | null;
  readonly debugId: string | null;
};

export type PaypalSimulator = {
  /** As the product's client calls it; a broken connection is a rejected promise. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** What PayPal knows, and what happens there: approve, completeCapture, reverseCapture, money(). */
  readonly books: PaypalBooks;
  readonly control: PaypalControl;
  /** The events since the last call, oldest first: to be delivered in any order, twice, or never. */
  drainWebhooks(): PaypalEvent[];
  /** The same events on their way over HTTP, signed. */
  readonly webhooks: Outbox;
  /** null: the connection breaks. */
  answer(request: ApiRequest): Promise<ApiAnswer | null>;
  addresses(): Addresses;
  /** Where it is reached, once it has a port. */
  setAddresses(addresses: { baseUrl?: string; publicUrl?: string }): void;
};

export type PaypalControl = {
  /** Puts a fault in line. */
  fail(fault: Fault): void;
  /** Those that have met nothing yet. */
  faults(): readonly Fault[];
  /** Lets the requests go on that a fault holds; answers how many there were. */
  release(): number;
  /** Resolves once a request is held. */
  whenHeld(): Promise<void>;
  /** From now on every token is answered with 401. */
  expireTokens(): void;
  /** Moves PayPal's time, and only PayPal's. */
  advance(ms: number): void;
  now(): Date;
  /** Oldest first. */
  requests(): readonly JournalEntry[];
  /** No orders, faults, tokens or journal; time as it was handed in. */
  reset(): void;
};

export function createPaypalSimulator(options: SimulatorOptions = {}): PaypalSimulator {
  const { clock = { now: () => new Date() }, seed = 1, wait = () => Promise.resolve() } = options;
  let api = options.baseUrl ?? 'http://paypal.invalid';
  let payer = options.publicUrl ?? null;
  let aheadMs = 0;
  const now = (): Date => (aheadMs === 0 ? clock.now() : new Date(clock.now().getTime() + aheadMs));
  const addresses = (): Addresses => ({ api, payer: payer ?? api });

  const ids = new Ids(seed);
  const webhooks = new Outbox({
    now,
    ids,
    webhookId: SANDBOX_WEBHOOK_ID,
    baseUrl: () => api,
    listenerUrl: () => (payer === null ? null : payer + LISTENER_PATH),
  });
  const books = new PaypalBooks({ now, ids, addresses, onEvent: (event) => webhooks.add(event) });
  const paypal = new PaypalApi({
    books,
    ids,
    now,
    addresses,
    clients: [SANDBOX_CLIENT, OTHER_CLIENT],
    verify: (asked) => webhooks.verify(asked),
    resend: (eventId) => webhooks.resend(eventId),
  });
  const faults = new FaultQueue<Fault>();
  const journal: JournalEntry[] = [];
  const inProgress = new Set<string>();
  const held = new HeldRequests();
  let drained = 0;

  /** An answer that says no although PayPal has done, or could have done, what was asked. */
  function failWith(fault: Fault, done: ApiAnswer | null): ApiAnswer {
    const debugId = done?.headers['paypal-debug-id'] ?? ids.debug();
    const issue = fault.issue ?? ISSUE_OF_STATUS[fault.status ?? 500] ?? 'INTERNAL_SERVER_ERROR';
    const failed = done ?? errorBody(new Refused({ issue }), debugId, fault.status);
    const headers: Record<string, string> = { 'content-type': 'application/json', 'paypal-debug-id': debugId };
    if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter);
    if (fault.body === 'html') {
      headers['content-type'] = 'text/html';
      return { status: failed.status, headers, body: '<html><body><h1>Bad Gateway</h1></body></html>' };
    }
    if (fault.body === 'empty') return { status: failed.status, headers, body: '' };
    const length = Math.floor(failed.body.length / 2);
    return {
      status: failed.status,
      headers,
      body: fault.body === 'truncated' ? failed.body.slice(0, length) : failed.body,
    };
  }

  async function faulty(request: ApiRequest, fault: Fault): Promise<ApiAnswer | null> {
    if (fault.hold === 'before') await held.hold();
    if (fault.delayMs !== undefined) await wait(fault.delayMs);
    if (fault.drop) return null;
    if (fault.status !== undefined || fault.issue !== undefined) return failWith(fault, null);
    const done = paypal.answer(request);
    if (fault.hold === 'after') await held.hold();
    if (fault.dropAfterWork) return null;
    return fault.body === undefined ? done : failWith(fault, done);
  }

  const note = (request: ApiRequest, given: ApiAnswer | null): void => {
    const { method, path, body, headers } = request;
    const requestId = headers['paypal-request-id'] ?? null;
    const debugId = given?.headers['paypal-debug-id'] ?? null;
    journal.push({ method, path, requestId, body, status: given?.status ?? null, debugId });
    if (journal.length > KEPT_REQUESTS) journal.shift();
  };

  async function answer(request: ApiRequest): Promise<ApiAnswer | null> {
    const requestId = request.headers['paypal-request-id'];
    const key = requestId === undefined ? null : `${request.path} ${requestId}`;
    let answered: ApiAnswer | null;
    if (key !== null && inProgress.has(key)) {
      answered = failWith({ issue: 'PREVIOUS_REQUEST_IN_PROGRESS' }, null);
    } else {
      const fault = faults.take(request);
      if (fault === null) {
        answered = paypal.answer(request);
      } else {
        if (key !== null) inProgress.add(key);
        answered = await faulty(request, fault).finally(() => key !== null && inProgress.delete(key));
      }
    }
    note(request, answered);
    return answered;
  }

  return {
    books,
    webhooks,
    answer,
    async fetch(input, init) {
      const signal = init?.signal ?? null;
      signal?.throwIfAborted();
      const request = await toRequest(input, init);
      const answered = await untilAborted(answer(request), signal);
      if (answered === null) throw new TypeError('fetch failed', { cause: new Error('other side closed') });
      const { status, headers, body } = answered;
      return new Response(body === '' ? null : body, { status, headers });
    },
    drainWebhooks() {
      const events = books.events.slice(drained);
      drained = books.events.length;
      return events;
    },
    addresses,
    setAddresses(changed) {
      api = changed.baseUrl ?? api;
      payer = changed.publicUrl ?? payer;
    },
    control: {
      fail: (fault) => faults.add(fault),
      faults: () => faults.waiting,
      release: () => held.release(),
      whenHeld: () => held.whenHeld(),
      expireTokens: () => paypal.expireTokens(),
      advance(ms) {
        aheadMs += ms;
        books.passTime();
      },
      now,
      requests: () => journal,
      reset() {
        aheadMs = 0;
        drained = 0;
        books.clear();
        webhooks.clear();
        paypal.clear();
        faults.clear();
        journal.length = 0;
        held.release();
      },
    },
  };
}

const ISSUE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'INVALID_ACCOUNT_STATUS',
  403: 'PERMISSION_DENIED',
  404: 'INVALID_RESOURCE_ID',
  409: 'PREVIOUS_REQUEST_IN_PROGRESS',
  422: 'TRANSACTION_REFUSED',
  429: 'RATE_LIMIT_REACHED',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};
