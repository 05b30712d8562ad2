import { expect, test } from 'vitest';
import { compare, createLedger } from './ledger.ts';

const storedItems = (...items: string[]) => new Map([['ada', items]]);

test('an acknowledged item that is not stored is lost', () => {
  const ledger = createLedger();
  ledger.acknowledge('ada', ['one', 'two']);
  expect(compare(ledger.copy(), storedItems('one'))).toEqual({ lost: ['ada: two'], doubled: [] });
  expect(compare(ledger.copy(), new Map()).lost).toEqual(['ada: one', 'ada: two']);
});

test('an item of another user does not count as stored', () => {
  const ledger = createLedger();
  ledger.acknowledge('ada', ['one']);
  expect(compare(ledger.copy(), new Map([['bob', ['one']]])).lost).toEqual(['ada: one']);
});

test('an item that is stored twice is doubled, whether acknowledged or not', () => {
  expect(compare(new Map(), storedItems('one', 'two', 'one'))).toEqual({ lost: [], doubled: ['ada: one'] });
});

test('an item may be stored without being acknowledged, and be acknowledged more than once', () => {
  const ledger = createLedger();
  ledger.acknowledge('ada', ['one']);
  ledger.acknowledge('ada', ['one', 'two']);
  expect(ledger.count()).toBe(2);
  expect(compare(ledger.copy(), storedItems('one', 'two', 'three'))).toEqual({ lost: [], doubled: [] });
});

test('a copy of the ledger lacks what is acknowledged later', () => {
  const ledger = createLedger();
  ledger.acknowledge('ada', ['one']);
  const copy = ledger.copy();
  ledger.acknowledge('ada', ['two']);
  expect(compare(copy, storedItems('one')).lost).toEqual([]);
});
