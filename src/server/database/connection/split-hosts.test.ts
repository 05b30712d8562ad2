import pg from 'pg';
import { expect, test } from 'vitest';

import { sessionAttributes, splitHosts } from './split-hosts.ts';

const addresses = (url: string) =>
  splitHosts(url).map((connectionString) => {
    const { host, port, database, user, password } = new pg.Client({ connectionString });
    return [host, port, database, user, password];
  });

test.each([
  ['postgres://ada:s%2Ccret@a:5433,b,[::1]:5434/forge?target_session_attrs=read-write&sslmode=disable'],
  ['postgres://ada:s%2Ccret@/forge?host=a,b,::1&port=5433,5432,5434'],
])('splits %s', (url) => {
  expect(addresses(url)).toEqual([
    ['a', 5433, 'forge', 'ada', 's,cret'],
    ['b', 5432, 'forge', 'ada', 's,cret'],
    ['::1', 5434, 'forge', 'ada', 's,cret'],
  ]);
});

test('applies a single port to all servers of the parameter host', () => {
  expect(addresses('postgres://ada:x@/forge?host=/run/a,/run/b&port=5433')).toEqual([
    ['/run/a', 5433, 'forge', 'ada', 'x'],
    ['/run/b', 5433, 'forge', 'ada', 'x'],
  ]);
});

test.each([
  'postgres://ada:a,b@db.example.com/forge',
  'postgresql://ada:x@/forge?host=/run/postgresql&port=5432',
  'postgres://db/forge',
])('leaves %s with one server unchanged', (url) => {
  expect(splitHosts(url)).toEqual([url]);
});

test('reads target_session_attrs, and returns null without it', () => {
  expect(sessionAttributes('postgres://a,b/forge?target_session_attrs=read-write')).toBe('read-write');
  expect(sessionAttributes('postgres://a,b/forge')).toBeNull();
});
