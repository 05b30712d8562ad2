import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://journal.example.com' };

test('an empty environment is a working laptop', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    environment: 'development',
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://localhost:3000',
    databaseUrl: null,
    sandbox: { on: true, url: null },
    auth: { autoconfirm: true, rateLimits: true },
  });
  expect(Object.isFrozen(config.auth)).toBe(true);
});

test('a blank value means that the setting is not set', () => {
  expect(readConfig({ PORT: '', HOST: ' ', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: null });
});

test('all problems are told at once, each with its name and an example', () => {
  const problems = problemsOf({ PORT: 'many', LOG_LEVEL: 'loud', SMTP_URL: 'http://x', SOCIAL_LINKS: 'nowhere' });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['PORT', 'LOG_LEVEL', 'SMTP_URL', 'SOCIAL_LINKS']);
  for (const problem of problems) expect(problem).toMatch(/\(for example [A-Z_]+=.+\)$/);
});

test('a bad secret is named and never shown', () => {
  const told = problemsOf({ DATABASE_URL: 'mysql://forge:hunter2@db/forge' }).join();
  expect(told).toContain('DATABASE_URL');
  expect(told).not.toContain('hunter2');
});

test('a secret shows itself to nobody who only prints it', () => {
  const { databaseUrl } = readConfig({ DATABASE_URL: 'postgres://forge:hunter2@db/forge' });
  const printed = [String(databaseUrl), JSON.stringify({ databaseUrl }), inspect({ databaseUrl })].join(' ');
  expect(printed).not.toContain('hunter2');
  expect(databaseUrl?.reveal()).toContain('hunter2');
});

describe('in production', () => {
  test.each([
    ['the public address is missing', { NODE_ENV: 'production' }, 'PUBLIC_URL'],
    ['rate limits are off', { ...PRODUCTION, AUTH_RATE_LIMITS: 'off' }, 'AUTH_RATE_LIMITS'],
    ['the sandbox is on', { ...PRODUCTION, SANDBOX: 'on' }, 'SANDBOX'],
    ['a server of its own has no key', { ...PRODUCTION, DATABASE_URL: 'postgres://db/forge' }, 'AUTH_SIGNING_KEY_FILE'],
  ])('it refuses to start when %s', (_case, env, name) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  test('the embedded database keeps its own key, so nothing but the address must be set', () => {
    expect(readConfig(PRODUCTION).sandbox.on).toBe(false);
  });
});

describe('the sandbox shows everybody’s mail, so it runs only out of reach of other machines', () => {
  test.each([
    [{ HOST: '0.0.0.0' }, 'HOST'],
    [{ PUBLIC_URL: 'https://journal.example.com' }, 'PUBLIC_URL'],
  ])('%o is refused', (env, name) => {
    expect(problemsOf(env)[0]).toMatch(new RegExp(`^${name} `));
  });

  test('any address is fine once it is off', () => {
    expect(readConfig({ HOST: '0.0.0.0', SANDBOX: 'off' }).host).toBe('0.0.0.0');
  });
});

test('.env.example names exactly the settings that are read', () => {
  const asked = new Set<string>();
  readConfig(new Proxy<Record<string, string>>({}, { get: (_env, name) => void asked.add(String(name)) }));
  const example = readFileSync(`${import.meta.dirname}/../../.env.example`, 'utf8');
  const listed = [...example.matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]);
  expect(listed.toSorted()).toEqual([...asked].toSorted());
});
