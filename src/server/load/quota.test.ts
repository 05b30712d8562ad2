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
  expect(quota.state()).toEqual({ taken: 100, refused: 2 });
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
