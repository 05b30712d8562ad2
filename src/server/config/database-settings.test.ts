import pg from 'pg';
import { expect, test } from 'vitest';
import { readConfig, sessionAttributes, splitHosts } from './config.ts';
import { problemsOf } from '../../../tests/support/config-problems.ts';

const OWNER = 'postgres://ada:hunter2';

test.each([
  `${OWNER}@db/forge`,
  `${OWNER}@a:5432,b:5433/forge?target_session_attrs=read-write`,
  `${OWNER}@a,b/forge`,
  `${OWNER}@/forge?host=/run/postgresql`,
  `${OWNER}@/forge?host=a,b&target_session_attrs=primary`,
])('accepts DATABASE_URL=%s', (url) => {
  expect(readConfig({ DATABASE_URL: url }).databaseUrl?.reveal()).toBe(url);
});

test.each([
  [{ DATABASE_URL: `${OWNER}@a,b/forge?target_session_attrs=any` }, 'DATABASE_URL must have target_session_attrs'],
  [{ DATABASE_URL: `${OWNER}@db/forge?target_session_attrs=standby` }, 'DATABASE_URL must have target_session_attrs'],
  [{ DATABASE_URL: `${OWNER}@a:x,b/forge` }, 'DATABASE_URL must be an address'],
  [{ DATABASE_POOL_URL: 'postgres://pooler:6432/forge' }, 'DATABASE_POOL_URL needs DATABASE_URL'],
  [
    { DATABASE_URL: `${OWNER}@db/forge`, DATABASE_POOL_URL: 'postgres://ada:hunter3@pooler/forge' },
    'DATABASE_POOL_URL must have the user and password of DATABASE_URL',
  ],
])('rejects %o', (env, problem) => {
  expect(problemsOf(env)).toEqual([expect.stringContaining(problem)]);
  expect(problemsOf(env).join()).not.toContain('hunter');
});

test.each(['postgres://pooler:6432/forge', `${OWNER}@pooler:6432/forge`])('accepts DATABASE_POOL_URL=%s', (url) => {
  const settings = readConfig({ DATABASE_URL: `${OWNER}@a,b/forge`, DATABASE_POOL_URL: url });
  expect(settings.databasePoolUrl?.reveal()).toBe(url);
});

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
