import { expect, test } from 'vitest';
import { PreparedStatements } from './rls-query.ts';

function prepare(names: PreparedStatements, text: string): string | null {
  const { name, isNew, closes } = names.nameFor('authenticated', text);
  if (isNew) names.parsed('authenticated', text, name);
  return closes;
}

test('closes the least recently used statement, and only once the connection is full', () => {
  const names = new PreparedStatements();
  for (let index = 0; index < 100; index += 1) expect(prepare(names, `select ${index}`)).toBeNull();
  expect(names.nameFor('authenticated', 'select 0')).toEqual({
    name: expect.stringMatching(/^s1_/),
    isNew: false,
    closes: null,
  });
  expect(prepare(names, 'select 100')).toMatch(/^s2_/);
  expect(names.nameFor('authenticated', 'select 1').isNew).toBe(true);
  expect(names.nameFor('authenticated', 'select 0').isNew).toBe(false);
});

test('does not close a statement that was just found prepared', () => {
  const names = new PreparedStatements();
  for (let index = 0; index < 100; index += 1) prepare(names, `select ${index}`);
  expect(names.has('authenticated', 'select 0')).toBe(true);
  expect(prepare(names, 'select 100')).toMatch(/^s2_/);
  expect(names.has('authenticated', 'select 0')).toBe(true);
});

test('keeps the plans of two roles apart and does not cache a statement that failed to parse', () => {
  const names = new PreparedStatements();
  prepare(names, 'select 1');
  expect(names.nameFor('anon', 'select 1').isNew).toBe(true);
  expect(names.nameFor('anon', 'select 1').isNew).toBe(true);
});
