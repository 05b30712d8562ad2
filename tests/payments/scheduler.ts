/**
 * Runs concurrent tasks one step at a time, in the order that a test chooses. Every call through `step` or `steps`
 * stops at two gates: before and after its effect. There the test lets the call continue, makes it fail, or kills its
 * process. A killed task never continues, and its effects so far stay.
 */
type Gate = { process: number; go(): void; fail(): void };

export class Scheduler {
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
export class Interrupted extends Error {}
