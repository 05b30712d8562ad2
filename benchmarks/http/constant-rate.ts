/**
 * An open-loop load generator: requests are sent at a constant rate, whether or not earlier ones were answered, and a
 * latency counts from the time at which the request was due. A closed loop would wait for a slow server and send it
 * fewer requests while it is slow (coordinated omission).
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Request } from 'autocannon';
import { percentile } from '../figures.ts';

export type RateResult = {
  /** In milliseconds from the time at which each answered request was due. */
  latencies: number[];
  /** The number of answers by status; 0: no answer. */
  statuses: ReadonlyMap<number, number>;
};

type Options = {
  url: string;
  /** Requests a second. */
  rate: number;
  seconds: number;
  /**
   * The rate is kept this long before the measurement, whose latencies do not count: the first requests open all
   * connections at once, which browsers do not.
   */
  warmUpSeconds?: number;
  make: (index: number) => Request;
  /** The connections of a request's client. Without it, all requests share 64. */
  agentOf?: (index: number) => Agent;
};

const TICK_MS = 1;
/**
 * A late answer holds its connection, so requests may wait for a free one. Opening ever more connections would measure
 * how fast the server accepts them.
 */
const MAX_CONNECTIONS = 64;

/** Sends HTTP requests at a constant rate and resolves when all are answered. */
export async function sendAtRate({
  url,
  rate,
  seconds,
  warmUpSeconds = 0,
  make,
  agentOf,
}: Options): Promise<RateResult> {
  const shared = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const count = Math.round(rate * (warmUpSeconds + seconds));
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      for (const now = performance.now(); pending.length < count;) {
        const dueAt = startedAt + (pending.length * 1_000) / rate;
        if (dueAt > now) return;
        pending.push(sendOne(pending.length, dueAt));
      }
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(pending);
  shared.destroy();
  return { latencies, statuses };

  async function sendOne(index: number, dueAt: number): Promise<void> {
    const status = await send(url, make(index), agentOf?.(index) ?? shared).catch(() => 0);
    const isMeasured = dueAt >= startedAt + warmUpSeconds * 1_000;
    if (isMeasured && isSuccess(status)) latencies.push(performance.now() - dueAt);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
}

/**
 * Returns the answered requests a second of `connections` that each send their next request after the last answer. The
 * maximum that a rate of `sendAtRate` is a share of: the same client with the same cost of a request.
 */
export async function measureMaximum({
  url,
  seconds,
  connections,
  make,
}: Pick<Options, 'url' | 'seconds' | 'make'> & { connections: number }): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startedAt = performance.now();
  let sent = 0;
  const keepSending = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      const status = await send(url, make(sent++), agent);
      if (!isSuccess(status)) throw new Error(`${url} answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, keepSending));
  agent.destroy();
  return (sent * 1_000) / (performance.now() - startedAt);
}

function send(url: string, { method = 'GET', path = '/', headers, body }: Request, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}`, { method, headers, agent }, (answer) => {
      text(answer).then(() => resolve(answer.statusCode!), reject);
    });
    outgoing.on('error', reject).end(body);
  });
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

export const failuresOf = ({ statuses }: Pick<RateResult, 'statuses'>): number =>
  [...statuses].reduce((sum, [status, count]) => sum + (isSuccess(status) ? 0 : count), 0);

/** `3 times 503`, empty without failures. */
export const describeFailures = ({ statuses }: Pick<RateResult, 'statuses'>): string =>
  [...statuses]
    .filter(([status]) => !isSuccess(status))
    .map(([status, count]) => `${count} times ${status === 0 ? 'no answer' : status}`)
    .join(', ');

export const describeLatencies = (latencies: readonly number[]): string =>
  [50, 95, 99].map((percent) => `p${percent} ${percentile(latencies, percent).toFixed(1)} ms`).join(', ');
