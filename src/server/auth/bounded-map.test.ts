import { expect, test } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

test('what is asked for stays, however many other keys come by', () => {
  const map = new BoundedMap<string, number>(10);
  map.set('in use', 1);
  for (let key = 0; key < 1_000; key += 1) {
    map.set(`key ${key}`, key);
    expect(map.get('in use')).toBe(1);
  }
  expect(map.get('key 0')).toBeUndefined();
  expect(map.get('key 999')).toBe(999);
});

test('what is deleted is gone from either generation', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.delete('a');
  map.delete('b');
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined]);
});
