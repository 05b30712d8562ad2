/**
 * Admits requests before they are authenticated and before their bodies are read.
 *
 * Threat: a client sends more requests than the server can answer. Each turn of the event loop begins a few requests,
 * in the order of `ConcurrencyLimiter`: clients with the fewest running requests go first. A request is answered with
 * 503 if this queue or the queue of the database is full, or if it waits too long. The 503 is delayed: without a delay,
 * a client that repeats refused requests at once would keep the event loop busy with refusals.
 */
import type { IncomingMessage } from 'node:http';
import type { getRequestListener, HttpBindings } from '@hono/node-server';
import { getPath } from 'hono/utils/url';
import { addressOf, networkPrefix } from './client-address.ts';
import { BusyError, createRequestContext, runInRequestContext, type RequestContext } from '../load/request-context.ts';
import type { ConcurrencyLimiter, Limits, Release } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import type { Logger } from '../log.ts';

/** Enough for the throughput of one core, and few enough that the requests of a turn take some milliseconds. */
const STARTS_PER_TURN = 16;
const TURNS: Limits = { maxRunning: STARTS_PER_TURN, maxQueued: 1_000, maxWaitMs: 5_000 };
/**
 * While more requests wait for the database, no request that asks it begins: one that has begun holds about twice the
 * memory while it waits. The queue stays long enough to keep all connections busy between two polls.
 */
const MAX_QUEUED_AT_DATABASE = 200;
const DATABASE_POLL_MS = 2;
/**
 * The delay of a 503 is random between these times, so that clients do not return together. It grows with the number of
 * refusals that wait, so that about `REFUSALS_PER_SECOND` of them end: a refusal costs the event loop about a tenth of
 * a read.
 */
const REFUSAL_DELAY_MS = { min: 250, max: 1_250 };
const REFUSALS_PER_SECOND = 1_000;
/** Shorter than a browser waits for a save. */
const MAX_REFUSAL_DELAY_MS = 10_000;
const WARN_EVERY_MS = 10_000;
/** The large bodies of all requests together. Parsing a body takes up to four times its size in addition. */
const MAX_BODY_BYTES_IN_MEMORY = 64 * 1024 * 1024;

/** Probes are always answered: a restart or a missing process would leave more load to the others. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

type Fetch = Parameters<typeof getRequestListener>[0];

type Deps = {
  limiters: Limiters;
  /** The limiter of the database's connections. */
  connections: Pick<ConcurrencyLimiter, 'refuseIfFull' | 'state'>;
  clientAddressHeader: string | null;
  log: Pick<Logger, 'warn'>;
};

function refusalDelayMs(waiting: number): number {
  const { min, max } = REFUSAL_DELAY_MS;
  const least = Math.max(min, Math.min((waiting / REFUSALS_PER_SECOND) * 1_000, MAX_REFUSAL_DELAY_MS));
  return least + Math.random() * (max - min);
}

/** Does not wait for a client that has left: until the delay ends, all requests of its connection stay in memory. */
function delayRefusal(outgoing: HttpBindings['outgoing'], ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, outgoing.closed ? 0 : ms).unref();
    outgoing.once('close', end);
  });
}

/** `add` frees the slots of all requests that begin in a turn once the turn has ended and `isBusy` returns false. */
function createTurns(limiter: ConcurrencyLimiter, isBusy: () => boolean) {
  let releases: Release[] = [];
  function end(): void {
    if (isBusy()) {
      setTimeout(end, DATABASE_POLL_MS);
      return;
    }
    const ended = releases;
    releases = [];
    for (const free of ended) free();
  }
  return {
    limiter,
    add(release: Release) {
      if (releases.push(release) === 1) setImmediate(end);
    },
  };
}

/** Returns the function that admits the requests for `fetch`. */
export function createAdmission({ limiters, connections, clientAddressHeader, log }: Deps): (fetch: Fetch) => Fetch {
  const isDatabaseBusy = (): boolean => connections.state().queued > MAX_QUEUED_AT_DATABASE;
  const apiTurns = createTurns(limiters.createLimiter('requests', TURNS), isDatabaseBusy);
  // The queue of a blocked database does not delay the pages.
  const pageTurns = createTurns(limiters.createLimiter('pages', TURNS), () => false);
  const bodies = limiters.createQuota('body_bytes', MAX_BODY_BYTES_IN_MEMORY);
  const trust = { clientAddressHeader };
  let warnedAt = -Infinity;
  let refusalsWaiting = 0;

  async function answer(
    context: RequestContext,
    { incoming, outgoing }: HttpBindings,
    path: string,
    run: () => ReturnType<Fetch>,
  ): Promise<unknown> {
    let response: unknown;
    try {
      connections.refuseIfFull(context);
      const { limiter, add } = API.test(path) || DATABASE_PAGE.test(path) ? apiTurns : pageTurns;
      add(limiter.tryAcquire(context) ?? (await limiter.acquire(context)));
      response = await run();
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      context.wasRefused = true;
      response = refusal(incoming);
    } finally {
      context.dropBody?.();
    }
    if (context.wasRefused && response instanceof Response && response.status === 503) {
      warn();
      refusalsWaiting += 1;
      await delayRefusal(outgoing, refusalDelayMs(refusalsWaiting));
      refusalsWaiting -= 1;
    }
    return response;
  }

  function warn(): void {
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const { queues, quotas } = limiters.states();
    log.warn(
      { queues: Object.fromEntries(queues), quotas: Object.fromEntries(quotas) },
      'overloaded: requests refused',
    );
  }

  return (fetch) => (request, env) => {
    // `listen.ts` serves HTTP/1 only, so these are not the bindings of HTTP/2.
    const bindings = env as HttpBindings;
    const { incoming } = bindings;
    const run = () => fetch(request, env);
    if (PROBES.has(incoming.url!)) return runInRequestContext(createRequestContext('probe'), run);
    const context = createRequestContext(networkPrefix(addressOf(incoming, trust)), bodies);
    // Threat: `/%72est/v1/entries` and `/x/../rest/v1/entries` reach the API too, and would keep the queue too long for
    // the requests of others to begin.
    const path = getPath(request);
    return runInRequestContext(context, () => answer(context, bindings, path, run));
  };
}

const MESSAGE = 'The server is busy. Please try again in a moment';
/** In seconds. Random between these, so that clients do not return together. */
const RETRY_AFTER = { min: 1, max: 3 };

const API = /^\/(?:auth|rest|functions)\/v1\//;
/**
 * Pages and endpoints that ask the database too. Threat: if they began while it has a queue, a stranger's requests for
 * read-only links would keep the queue too long for any request of an API to begin.
 */
const DATABASE_PAGE = /^\/(?:s|evening|unsubscribe|push)\//;

/** A page that loads itself again. It needs no script and no style. */
const page = (seconds: number): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="${seconds}">` +
  '<title>Hustle Forge is busy</title></head><body><h1>Hustle Forge is busy</h1>' +
  '<p>The server has too much to do right now. This page tries again in a few seconds.</p></body></html>';

/** One format serves every client: auth-js and postgrest-js read `code` and `message`, the functions `error`. */
const body = JSON.stringify({
  code: 'busy',
  message: MESSAGE,
  details: null,
  hint: null,
  success: false,
  error: MESSAGE,
});

/** The answer to a request that is refused before any route sees it. */
function refusal({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): Response {
  const seconds = RETRY_AFTER.min + Math.floor(Math.random() * (RETRY_AFTER.max - RETRY_AFTER.min + 1));
  const isPage = !API.test(url ?? '') && (headers.accept ?? '').includes('text/html');
  return new Response(isPage ? page(seconds) : body, {
    status: 503,
    headers: {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': String(seconds),
    },
  });
}
