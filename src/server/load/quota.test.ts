import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { createQuota } from './quota.ts';

test('a client alone holds half, and the rest is for clients with a tenth at most', () => {
  const quota = createQuota(100);
  for (let count = 0; count < 50; count += 1) expect(quota.take('flood')).toBe(true);
  expect(quota.take('flood')).toBe(false);
  for (let other = 0; other < 5; other += 1) {
    for (let count = 0; count < 10; count += 1) expect(quota.take(`other ${other}`)).toBe(true);
  }
  expect(quota.take('newcomer')).toBe(false);
  expect(quota.state()).toEqual({ taken: 100, refused: 2, displaced: 0 });
  quota.giveBack('flood', 40);
  expect(quota.take('newcomer')).toBe(true);
});

test('a client takes no more than a tenth once half is taken, whatever was taken before', () => {
  const amount = fc.integer({ min: 1, max: 30 });
  const client = fc.integer({ min: 0, max: 12 }).map(String);
  fc.assert(
    fc.property(fc.array(fc.tuple(client, amount, fc.boolean()), { maxLength: 80 }), (steps) => {
      const quota = createQuota(200);
      const held = new Map<string, number>();
      let taken = 0;
      for (const [id, wanted, isTaking] of steps) {
        const own = held.get(id) ?? 0;
        if (!isTaking) {
          if (own < wanted) continue;
          quota.giveBack(id, wanted);
          held.set(id, own - wanted);
          taken -= wanted;
          continue;
        }
        const isAllowed = taken + wanted <= 200 && (taken + wanted <= 100 || own + wanted <= 20);
        expect(quota.take(id, wanted)).toBe(isAllowed);
        if (!isAllowed) continue;
        held.set(id, own + wanted);
        taken += wanted;
      }
      expect(quota.state().taken).toBe(taken);
    }),
    { numRuns: fuzzBudget(300) },
  );
});

test('a full quota reclaims what one client holds above a tenth for clients below it', () => {
  const quota = createQuota(20, (client) => quota.giveBack(client));
  for (let count = 0; count < 10; count += 1) quota.take('early');
  for (let count = 0; count < 10; count += 1) quota.take(`other ${count % 5}`);
  for (let count = 0; count < 8; count += 1) expect(quota.take(`newcomer ${count % 4}`)).toBe(true);
  expect(quota.take('late')).toBe(false);
  expect(quota.take('early')).toBe(false);
  expect(quota.state()).toEqual({ taken: 20, refused: 2, displaced: 8 });
});

test('a full quota refuses a client below a tenth only if nothing above a tenth can be reclaimed', () => {
  const MAX = 40;
  const TENTH = 4;
  const client = fc.integer({ min: 0, max: 14 }).map(String);
  const steps = fc.array(fc.tuple(client, fc.integer({ min: 1, max: 20 }), fc.boolean()), { maxLength: 20 });
  fc.assert(
    fc.property(steps, steps, fc.uniqueArray(client, { maxLength: 3 }), (before, whenFull, busy) => {
      const held = new Map<string, number>();
      const heldBy = (id: string): number => held.get(id) ?? 0;
      const total = (): number => [...held.values()].reduce((sum, count) => sum + count, 0);
      const mostReclaimable = (): number => Math.max(0, ...[...held].map(([id, n]) => (busy.includes(id) ? 0 : n)));
      let displaced = 0;
      const giveBack = (id: string): void => {
        held.set(id, heldBy(id) - 1);
        quota.giveBack(id);
      };
      const quota = createQuota(MAX, (id) => {
        expect(heldBy(id)).toBeGreaterThan(TENTH);
        if (busy.includes(id)) return;
        expect(heldBy(id)).toBe(mostReclaimable());
        displaced += 1;
        giveBack(id);
      });
      const takePlace = (id: string): boolean => {
        const [totalBefore, displacedBefore] = [total(), displaced];
        const isSmall = heldBy(id) < TENTH;
        const canReclaim = totalBefore === MAX && isSmall && mostReclaimable() > TENTH;
        const isAllowed = canReclaim || (totalBefore < MAX && (totalBefore < MAX / 2 || isSmall));
        expect(quota.take(id)).toBe(isAllowed);
        if (isAllowed) held.set(id, heldBy(id) + 1);
        expect(displaced - displacedBefore).toBe(canReclaim ? 1 : 0);
        expect(total()).toBeLessThanOrEqual(MAX);
        expect(quota.state()).toMatchObject({ taken: total(), displaced });
        expect(quota.shouldShrink(id)).toBe(total() === MAX && heldBy(id) > TENTH);
        return isAllowed;
      };
      const run = (script: typeof before): void => {
        for (const [id, count, isTaking] of script) {
          for (let step = 0; step < count; step += 1) {
            if (isTaking) takePlace(id);
            else if (heldBy(id) > 0) giveBack(id);
          }
        }
      };
      run(before);
      for (let filler = 0; total() < MAX; filler += 1) takePlace(`filler ${filler}`);
      run(whenFull);
      for (let newcomer = 0; takePlace(`newcomer ${newcomer}`);) newcomer += 1;
      expect(mostReclaimable()).toBeLessThanOrEqual(TENTH);
    }),
    { numRuns: fuzzBudget(300) },
  );
});
