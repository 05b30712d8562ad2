/**
 * The queue under random crashes, clocks, networks and refusals, with two processes at once: what was queued arrives
 * once, in order, or is kept as refused.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzBudget } from '../../tests/support/fuzz-budget.ts';
import { createMemoryFolder } from '../../tests/support/memory-folder.ts';
import { createQueue, type Folder, type Item, type Outcome } from './queue.ts';

class Killed extends Error {}

const ACCOUNT = { server: 'https://journal.example', account: 'ada' };
const OTHER = { server: 'https://journal.example', account: 'ben' };

const networks = ['works', 'drops the request', 'drops the answer'] as const;
const processes = fc.record({
  adds: fc.integer({ min: 0, max: 3 }),
  isOther: fc.boolean(),
  /** The operation at which it is killed, and whether the operation still takes effect. */
  dies: fc.option(fc.record({ at: fc.integer({ min: 0, max: 25 }), after: fc.boolean() }), { nil: null }),
  network: fc.array(fc.constantFrom(...networks), { maxLength: 8 }),
});
type Process = typeof processes extends fc.Arbitrary<infer Value> ? Value : never;
const step = fc.record({
  processes: fc.array(processes, { minLength: 1, maxLength: 2 }),
  /** The clock may go back. */
  clock: fc.integer({ min: -3_600_000, max: 8 * 3_600_000 }),
  refuses: fc.boolean(),
});

test('every queued text arrives once and in order, or is kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.scheduler(), async (steps, scheduler) => {
      const [pending, refused] = [createMemoryFolder(), createMemoryFolder()];
      const log: { text: string; account: string }[] = [];
      const keys = new Set<string>();
      const safe: { text: string; account: string; step: number }[] = [];
      const tried = new Set<string>();
      let now = Date.UTC(2026, 10, 28);
      let refuses = false;
      let count = 0;

      /** The server: a key is appended once, also while it refuses other texts. */
      function answer(item: Item, account: string): Outcome {
        if (keys.has(item.key)) return { is: 'appended', date: '2026-11-28' };
        if (refuses) return { is: 'refused', why: 'locked' };
        keys.add(item.key);
        log.push({ text: item.text, account });
        return { is: 'appended', date: '2026-11-28' };
      }

      async function run({ adds, isOther, dies, network }: Process, number: number): Promise<void> {
        const to = isOther ? OTHER : ACCOUNT;
        let operations = 0;
        const guarded = <Result>(work: () => Result): Result => {
          operations += 1;
          const isLast = dies !== null && operations > dies.at;
          if (isLast && !dies.after) throw new Killed();
          const result = work();
          if (isLast) throw new Killed();
          return result;
        };
        const guard = (folder: Folder): Folder => ({
          names: () => guarded(() => folder.names()),
          read: (name) => guarded(() => folder.read(name)),
          write: (name, text) => guarded(() => folder.write(name, text)),
          remove: (name) => guarded(() => folder.remove(name)),
        });
        const queue = createQueue({ pending: guard(pending), refused: guard(refused), now: () => new Date(now) });
        const waits = [...network];
        try {
          for (let added = 0; added < adds; added += 1) {
            const text = `text ${(count += 1)}`;
            tried.add(text);
            queue.add({ ...to, text });
            safe.push({ text, account: to.account, step: number });
          }
          await queue.send(to, async (item) => {
            const way = waits.shift() ?? 'works';
            await scheduler.schedule(Promise.resolve());
            if (way === 'drops the request') return { is: 'later', why: 'lost', exitCode: 69 };
            const outcome = guarded(() => answer(item, to.account));
            await scheduler.schedule(Promise.resolve());
            return way === 'works' ? outcome : { is: 'later', why: 'lost', exitCode: 69 };
          });
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }

      for (const [number, each] of steps.entries()) {
        now += each.clock;
        refuses = each.refuses;
        await scheduler.waitFor(Promise.all(each.processes.map((one) => run(one, number))));
      }
      refuses = false;
      for (const isOther of [false, true])
        await scheduler.waitFor(run({ adds: 0, isOther, dies: null, network: [] }, steps.length));

      expect(pending.names()).toEqual([]);
      const kept = refused.names().map((name) => (JSON.parse(refused.read(name)!) as Item).text);
      const everywhere = [...log.map(({ text }) => text), ...kept];
      expect(new Set(everywhere).size, 'nothing is doubled').toBe(everywhere.length);
      for (const { text, account } of safe) {
        expect(everywhere, 'nothing is lost').toContain(text);
        if (!kept.includes(text)) expect(log).toContainEqual({ text, account });
      }
      for (const text of everywhere) expect(tried).toContain(text);
      for (const { account } of [ACCOUNT, OTHER]) {
        const arrived = log.filter((each) => each.account === account).map(({ text }) => text);
        const stepOf = new Map(safe.map((each) => [each.text, each.step]));
        const order = arrived.map((text) => stepOf.get(text)).filter((at) => at !== undefined);
        expect(order, 'in order').toEqual([...order].sort((a, b) => a - b));
      }
    }),
    { numRuns: fuzzBudget(200) },
  );
});
