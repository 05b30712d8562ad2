/**
 * A deterministic simulator of PayPal: state, API, faults and control. Depends only on its seed, its clock and the
 * requests. Only its webhooks use the network; `server.ts` serves the API over HTTP.
 */
import type { ApiRequest } from '../host.ts';
import { FaultQueue, HeldRequests } from '../faults.ts';
import { PaypalApi, type ApiAnswer, type Client } from './api/api.ts';
import { PaypalBooks } from './books/books.ts';
import { Ids, type PaypalEvent } from './books/model.ts';
import { errorBody, RefusedError } from './books/issues.ts';
import type { Addresses } from './books/response-bodies.ts';
import { Outbox } from './webhooks.ts';

/** A fault of the PayPal simulator. Each queued fault affects the next `times` matching requests. */
export type Fault = {
  /** Default: any method. */
  method?: string;
  /** A regular expression for the path, such as `/capture$`. Default: any path. */
  path?: string;
  /** The number of affected requests. Default: 1. */
  times?: number;
  /** Responds with this status instead of doing the work. */
  status?: number;
  /** Rejects the request with this issue of PayPal. The issue determines the status if `status` is missing. */
  issue?: string;
  /** Replaces the body with invalid JSON. Without `status` or `issue`, the work is done, but its body is invalid. */
  body?: 'html' | 'empty' | 'truncated';
  /** Seconds, in the Retry-After header. Only with `status`, `issue` or `body`. */
  retryAfter?: number;
  /** Breaks the connection before the work. */
  drop?: boolean;
  /** Breaks the connection after the work: the client cannot know whether the payment succeeded. */
  dropAfterWork?: boolean;
  /** Delays the work. Until the response, other requests with the same path and id are rejected. */
  delayMs?: number;
  /** Holds the request until `release`, before or after the work. */
  hold?: 'before' | 'after';
};

export const SANDBOX_CLIENT: Client = { id: 'sandbox-client', secret: 'sandbox-secret' };
/** Another PayPal account, which must not see the orders of `SANDBOX_CLIENT`. */
const OTHER_CLIENT: Client = { id: 'other-client', secret: 'other-secret' };

/** The id of the webhook subscription, which is signed with every event. */
export const SANDBOX_WEBHOOK_ID = '5GP028458E2496506';

const LISTENER_PATH = '/functions/v1/paypal-webhook';
const MAX_KEPT_REQUESTS = 1000;

export type SimulatorOptions = {
  clock?: { now(): Date };
  /** The origin of the payer's pages: the product's origin, which proxies `/sandbox`. */
  publicUrl?: string;
  /** The origin of the API. */
  baseUrl?: string;
  seed?: number;
  /** Waits for a delay. Default: does not wait. */
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
  /** An in-process `fetch`. Rejects for a broken connection. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** PayPal's state, and the actions of payers and banks: approve, completeCapture, reverseCapture. */
  readonly books: PaypalBooks;
  readonly control: PaypalControl;
  /** Returns the events since the last call, oldest first, for a test to deliver in any order, repeatedly or never. */
  drainWebhooks(): PaypalEvent[];
  /** Delivers all events over HTTP, signed, whether `drainWebhooks` has returned them or not. */
  readonly webhooks: Outbox;
  /** Returns null for a broken connection. */
  answer(request: ApiRequest): Promise<ApiAnswer | null>;
  addresses(): Addresses;
  /** Sets the addresses once the port is known. */
  setAddresses(addresses: { baseUrl?: string; publicUrl?: string }): void;
};

export type PaypalControl = {
  /** Queues a fault. */
  fail(fault: Fault): void;
  /** The queued faults. */
  faults(): readonly Fault[];
  /** Releases the held requests and returns their number. */
  release(): number;
  /** Resolves once a request is held. */
  whenHeld(): Promise<void>;
  /** Invalidates all access tokens. */
  expireTokens(): void;
  /** Advances PayPal's clock, independent of the product's. */
  advance(ms: number): void;
  now(): Date;
  /** Oldest first. */
  requests(): readonly JournalEntry[];
  /** Clears orders, webhooks, tokens, cached responses, faults, journal and clock offset. Releases held requests. */
  reset(): void;
};

export function createPaypalSimulator(options: SimulatorOptions = {}): PaypalSimulator {
  const { clock = { now: () => new Date() }, seed = 1, wait = () => Promise.resolve() } = options;
  let api = options.baseUrl ?? 'http://paypal.invalid';
  let payer = options.publicUrl ?? null;
  let clockOffsetMs = 0;
  const now = (): Date => (clockOffsetMs === 0 ? clock.now() : new Date(clock.now().getTime() + clockOffsetMs));
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
    webhook: (id) =>
      id === SANDBOX_WEBHOOK_ID
        ? { id, url: addresses().payer + LISTENER_PATH, event_types: [{ name: '*', description: 'ALL' }] }
        : null,
    resend: (eventId) => webhooks.resend(eventId),
  });
  const faults = new FaultQueue<Fault>();
  const journal: JournalEntry[] = [];
  const inProgress = new Set<string>();
  const held = new HeldRequests();
  let drained = 0;

  /** Returns the response of a fault: an error response if `done` is null, else `done` with a corrupted body. */
  function failWith(fault: Fault, done: ApiAnswer | null): ApiAnswer {
    const debugId = done?.headers['paypal-debug-id'] ?? ids.debug();
    const issue = fault.issue ?? ISSUE_OF_STATUS[fault.status ?? 500] ?? 'INTERNAL_SERVER_ERROR';
    const failed = done ?? errorBody(new RefusedError({ issue }), debugId, fault.status);
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

  async function answerWithFault(request: ApiRequest, fault: Fault): Promise<ApiAnswer | null> {
    if (fault.hold === 'before') await held.hold();
    if (fault.delayMs !== undefined) await wait(fault.delayMs);
    if (fault.drop) return null;
    if (fault.status !== undefined || fault.issue !== undefined) return failWith(fault, null);
    const done = paypal.answer(request);
    if (fault.hold === 'after') await held.hold();
    if (fault.dropAfterWork) return null;
    return fault.body === undefined ? done : failWith(fault, done);
  }

  const recordRequest = (request: ApiRequest, given: ApiAnswer | null): void => {
    const { method, path, body, headers } = request;
    const requestId = headers['paypal-request-id'] ?? null;
    const debugId = given?.headers['paypal-debug-id'] ?? null;
    journal.push({ method, path, requestId, body, status: given?.status ?? null, debugId });
    if (journal.length > MAX_KEPT_REQUESTS) journal.shift();
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
        answered = await answerWithFault(request, fault).finally(() => key !== null && inProgress.delete(key));
      }
    }
    recordRequest(request, answered);
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
      faults: () => faults.pending,
      release: () => held.release(),
      whenHeld: () => held.whenHeld(),
      expireTokens: () => paypal.expireTokens(),
      advance(ms) {
        clockOffsetMs += ms;
        books.expireOrders();
      },
      now,
      requests: () => journal,
      reset() {
        clockOffsetMs = 0;
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

/** Rejects when the signal aborts. The work continues, as on a real server. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function toRequest(input: string | URL | Request, init: RequestInit = {}): Promise<ApiRequest> {
  const asked = input instanceof Request ? input : null;
  const address = asked?.url ?? (input as string | URL).toString();
  const [path = '/', query = ''] = address.replace(/^https?:\/\/[^/]+/, '').split('?');
  const headers: Record<string, string> = {};
  const given = init.headers ?? asked?.headers ?? {};
  const pairs = given instanceof Headers ? given : Array.isArray(given) ? given : Object.entries(given);
  for (const [name, value] of pairs as Iterable<[string, string]>) headers[name.toLowerCase()] = value;
  const { body } = init;
  if (body instanceof URLSearchParams) headers['content-type'] ??= 'application/x-www-form-urlencoded';
  const isText = typeof body === 'string' || body instanceof URLSearchParams;
  const text = isText ? body.toString() : await (asked ?? new Response(body)).text();
  return { method: (init.method ?? asked?.method ?? 'GET').toUpperCase(), path, query, headers, body: text };
}
