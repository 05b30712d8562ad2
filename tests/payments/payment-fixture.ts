/**
 * A world for the model test: buyers, two server processes and PayPal's simulator. A history is a list of numbers; each
 * number selects the next event. The servers run the real state machine with the real PayPal client.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { latestToday, type Day } from '#domain/day/day.ts';
import { createLog } from '#server/log.ts';
import type { PaymentStore, PaymentDeps } from '#server/payments/payment-store.ts';
import { createPaypal } from '#server/payments/paypal/paypal-client.ts';
import { processEvent, reconcilePayments } from '#server/payments/reconcile-payments.ts';
import { refundPayment } from '#server/payments/refund-payment.ts';
import { settlePayment } from '#server/payments/settle-payment.ts';
import { startPayment } from '#server/payments/payments.ts';
import { parseEvent } from '#server/payments/webhook.ts';
import { Secret } from '#server/config/settings-reader.ts';
import type { PaymentWay, PaypalEvent } from '../../simulators/paypal/books/model.ts';
import { RefusedError } from '../../simulators/paypal/books/issues.ts';
import { createPaypalSimulator, SANDBOX_CLIENT, type PaypalSimulator } from '../../simulators/paypal/simulator.ts';

/** A payment store, and the changes to accounts and events that the state machine does not make itself. */
export type WorldStore = {
  store: PaymentStore;
  addBuyer(userId: string): Promise<void>;
  deleteAccount(userId: string): Promise<void>;
  /** The user asks to delete the account, or undoes it. */
  setLeaving(userId: string, isLeaving: boolean): Promise<void>;
  /** Returns whether the event is new. */
  receive(event: PaypalEvent, now: Date): Promise<boolean>;
};

const API = 'http://127.0.0.1:1';
const PROCESSES = 2;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const silent = createLog('silent');
const TIME_STEPS_MS = [10, 10, 40, 40, 40, 400, 400, 400, 4_000, 40_000].map((seconds) => seconds * 1000);
const START = Date.parse('2026-11-21T12:00:00Z');

export class PaymentWorld {
  readonly worldStore: WorldStore;
  readonly simulator: PaypalSimulator;
  readonly scheduler = new Scheduler();
  readonly users: readonly string[] = [randomUUID(), randomUUID()];
  readonly startedOn: Day;
  #nowMs = START;
  /** The number of next responses that are lost after PayPal has done the work. The client tries three times. */
  #lostResponses = 0;
  readonly #clock = { now: () => new Date(this.#nowMs) };
  readonly #servers: { deps: PaymentDeps }[] = [];
  readonly #events: PaypalEvent[] = [];

  constructor(worldStore: WorldStore) {
    this.worldStore = worldStore;
    // Histories that share a database must not share PayPal ids.
    const seed = randomInt(2 ** 32);
    this.simulator = createPaypalSimulator({ clock: this.#clock, baseUrl: API, publicUrl: API, seed });
    this.startedOn = latestToday(this.now);
    for (let process = 0; process < PROCESSES; process += 1) this.#boot(process);
  }

  get now(): Date {
    return this.#clock.now();
  }

  async addBuyers(): Promise<void> {
    for (const user of this.users) await this.worldStore.addBuyer(user);
  }

  #boot(process: number): void {
    const { scheduler, simulator } = this;
    const paypal = createPaypal({
      config: {
        apiBase: API,
        clientId: SANDBOX_CLIENT.id,
        clientSecret: new Secret(SANDBOX_CLIENT.secret),
        webhookId: null,
      },
      log: silent,
      clock: this.#clock,
      pause: () => Promise.resolve(),
      fetch: (input, init) => {
        const send = async (): Promise<Response> => {
          const response = await simulator.fetch(input, init);
          if (this.#lostResponses === 0) return response;
          this.#lostResponses -= 1;
          throw new TypeError('lost');
        };
        const isToken = init?.body === 'grant_type=client_credentials';
        return isToken ? simulator.fetch(input, init) : scheduler.step(process, send, () => new TypeError('lost'));
      },
    });
    const store = scheduler.steps(process, this.worldStore.store, () => new Interrupted('the database went away'));
    this.#servers[process] = { deps: { store, paypal, clock: this.#clock, log: silent, hasWebhook: false } };
  }

  /** Performs the event that the number selects. */
  async performEvent(number: number): Promise<void> {
    const choice = Math.floor(number / WEIGHTS_SUM);
    let left = number % WEIGHTS_SUM;
    for (const [name, weight] of WEIGHTS) {
      if (left < weight) return this.#perform(name, choice);
      left -= weight;
    }
  }

  async #perform(name: EventName, choice: number): Promise<void> {
    const { scheduler, simulator, users } = this;
    const { books } = simulator;
    const process = choice % PROCESSES;
    const { deps } = this.#servers[process]!;
    const pick = <T>(from: Iterable<T>): T | undefined => {
      const all = [...from];
      return all[Math.floor(choice / PROCESSES) % Math.max(1, all.length)];
    };
    switch (name) {
      case 'continue':
        return scheduler.advance(choice, 'go');
      case 'fail':
        return scheduler.advance(choice, 'fail');
      case 'kill':
        scheduler.kill(process);
        return this.#boot(process);
      case 'start payment': {
        const config = { publicUrl: API, paymentBlockedCountries: [] };
        return scheduler.begin(process, () => startPayment({ ...deps, config }, pick(users)!));
      }
      case 'approve': {
        const ways: PaymentWay[] = ['instant', 'instant', 'instant', 'bank-declines', 'declined-capture', 'echeck'];
        const order = pick(books.orders.keys());
        if (order !== undefined) tryAtPaypal(() => books.approve(order, ways[choice % ways.length]));
        return undefined;
      }
      case 'return': {
        const order = pick(books.orders.keys());
        if (order === undefined) return undefined;
        const payment = await this.worldStore.store.find({ orderId: order });
        return payment ? scheduler.begin(process, () => settlePayment(deps, payment.id)) : undefined;
      }
      case 'webhook': {
        this.#events.push(...simulator.drainWebhooks());
        const event = pick(this.#events);
        if (event && (await this.worldStore.receive(event, this.now))) await this.#follow(process, event);
        return undefined;
      }
      case 'sweep':
        return scheduler.begin(process, () => reconcilePayments(deps));
      case 'time':
        this.#nowMs += TIME_STEPS_MS[choice % TIME_STEPS_MS.length]!;
        return undefined;
      case 'echeck': {
        const pending = pick([...books.captures.values()].filter(({ status }) => status === 'PENDING'));
        if (pending)
          tryAtPaypal(() => (choice % 3 === 0 ? books.denyCapture(pending.id) : books.completeCapture(pending.id)));
        return undefined;
      }
      case 'refund at PayPal': {
        const capture = pick(books.captures.values());
        if (!capture) return undefined;
        const amount = choice % 3 === 0 ? { currency: 'USD', minor: 500 } : null;
        tryAtPaypal(() =>
          choice % 5 === 0 ? books.reverseCapture(capture.id) : books.refundCapture(capture.id, { amount }),
        );
        return undefined;
      }
      case 'refund': {
        const capture = pick(books.captures.values());
        if (!capture) return undefined;
        return scheduler.begin(process, () => refundPayment(deps, capture.order.customId!));
      }
      case 'outage':
        this.#lostResponses = choice % 7;
        return undefined;
      case 'tamper': {
        const order = pick([...books.orders.values()].filter(({ capture }) => capture === null));
        if (order && choice % 8 === 0) Object.assign(order, { amount: { currency: 'USD', minor: 1 } });
        return undefined;
      }
      case 'delete account': {
        // Only one choice in three deletes the account, so that enough buyers remain. The others request the deletion
        // or undo it.
        const user = pick(users)!;
        return choice % 3 === 0
          ? this.worldStore.deleteAccount(user)
          : this.worldStore.setLeaving(user, choice % 3 === 1);
      }
    }
  }

  async #follow(process: number, event: PaypalEvent): Promise<void> {
    const parsed = parseEvent(event.body);
    if (parsed) await this.scheduler.begin(process, () => processEvent(this.#servers[process]!.deps, parsed));
  }

  /** Ends the outage, finishes all waiting calls, and runs seven sweeps over four days that settle pending captures. */
  async settleAll(): Promise<void> {
    const { scheduler, simulator } = this;
    this.#lostResponses = 0;
    await scheduler.finishAll();
    for (const hours of [0, 0.02, 1, 8, 30, 30, 30]) {
      this.#nowMs += hours * 60 * MINUTE_MS;
      await this.sweep();
      for (const { id, status } of simulator.books.captures.values()) {
        if (status === 'PENDING') simulator.books.completeCapture(id);
      }
    }
  }

  async sweep(): Promise<void> {
    await this.scheduler.begin(0, () => reconcilePayments(this.#servers[0]!.deps));
    await this.scheduler.finishAll();
  }

  /** Delivers every event at least once, as PayPal's retries do. */
  async deliverAllWebhooks(): Promise<void> {
    this.#events.push(...this.simulator.drainWebhooks());
    for (const event of this.#events) await this.worldStore.receive(event, this.now);
    await this.sweep();
    this.#nowMs += 30 * 60 * MINUTE_MS;
    await this.sweep();
  }

  /** Advances the clock and runs a sweep. No webhook arrives. */
  async passDays(days: number): Promise<void> {
    this.#nowMs += days * DAY_MS;
    await this.sweep();
  }

  /** Refunds, or for some choices reverses, a capture at PayPal without our server. */
  refundAtPaypal(choice: number): Promise<void> {
    return this.#perform('refund at PayPal', choice);
  }
}

/** Ignores commands that PayPal's simulator rejects. */
function tryAtPaypal(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}

const WEIGHTS = [
  ['continue', 60],
  ['start payment', 5],
  ['approve', 18],
  ['return', 9],
  ['webhook', 7],
  ['sweep', 5],
  ['time', 5],
  ['fail', 4],
  ['kill', 3],
  ['echeck', 2],
  ['refund at PayPal', 2],
  ['refund', 1],
  ['delete account', 1],
  ['tamper', 1],
  ['outage', 2],
] as const;
type EventName = (typeof WEIGHTS)[number][0];
const WEIGHTS_SUM = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);

type Gate = { process: number; go(): void; fail(): void };

/**
 * Runs concurrent tasks one step at a time, in the order that a test chooses. Every call through `step` or `steps`
 * stops at two gates: before and after its effect. There the test lets the call continue, makes it fail, or kills its
 * process. A killed task never continues, and its effects so far stay.
 */
class Scheduler {
  readonly #waiting: Gate[] = [];
  /** Incremented by every kill, so that tasks of a dead process are ignored. */
  readonly #generations = new Map<number, number>();
  #notifyStopped: () => void = () => undefined;
  /** The errors that tasks threw, without `Interrupted`, which the test caused. */
  readonly failures: unknown[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Starts a task of a process. Resolves when it waits at its first gate or has ended. */
  async begin(process: number, task: (process: number) => Promise<unknown>): Promise<void> {
    const generation = this.#generationOf(process);
    const stopped = this.#whenStopped();
    void task(process).then(
      () => this.#stop(process, generation),
      (error: unknown) => {
        if (!(error instanceof Interrupted)) this.failures.push(error);
        this.#stop(process, generation);
      },
    );
    await stopped;
  }

  /** Lets one waiting call continue or fail. */
  async advance(choice: number, how: 'go' | 'fail'): Promise<void> {
    const [gate] = this.#waiting.splice(choice % this.#waiting.length, 1);
    if (!gate) return;
    const stopped = this.#whenStopped();
    gate[how]();
    await stopped;
  }

  /** Acts as kill -9: the waiting calls of the process never continue. */
  kill(process: number): void {
    this.#generations.set(process, this.#generationOf(process) + 1);
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      if (this.#waiting[at]!.process === process) this.#waiting.splice(at, 1);
    }
  }

  async finishAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.advance(0, 'go');
  }

  /** Wraps an object so that every method has a gate before and after its effect. */
  steps<T extends object>(process: number, target: T, failure: () => Error): T {
    return new Proxy(target, {
      get: (object, name, receiver) => {
        const method: unknown = Reflect.get(object, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]): Promise<unknown> =>
          this.step(process, () => method.apply(object, args), failure);
      },
    });
  }

  async step<T>(process: number, effect: () => T | Promise<T>, failure: () => Error): Promise<T> {
    await this.#gate(process, failure);
    const answer = await effect();
    await this.#gate(process, failure);
    return answer;
  }

  #gate(process: number, failure: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ process, go: resolve, fail: () => reject(failure()) });
      this.#notifyStopped();
    });
  }

  #whenStopped(): Promise<void> {
    return new Promise((resolve) => {
      this.#notifyStopped = resolve;
    });
  }

  #stop(process: number, generation: number): void {
    if (generation === this.#generationOf(process)) this.#notifyStopped();
  }

  #generationOf(process: number): number {
    return this.#generations.get(process) ?? 0;
  }
}

/** Thrown by a call that the test made fail. */
class Interrupted extends Error {}
