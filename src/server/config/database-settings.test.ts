import { expect, test } from 'vitest';
import { problemsOf } from '../../../tests/support/config-problems.ts';
import { readConfig } from './config.ts';

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
