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

test('an empty environment yields a complete development configuration', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    environment: 'development',
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://localhost:3000',
    databaseUrl: null,
    databasePoolUrl: null,
    sandbox: { on: true, url: null },
    auth: { autoconfirm: true, rateLimits: true },
  });
  expect(Object.isFrozen(config.auth)).toBe(true);
});

test('a blank value counts as unset', () => {
  expect(readConfig({ PORT: '', HOST: ' ', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: null });
});

test.each([
  ['::', 'http://localhost:3000', '::'],
  ['0.0.0.0', 'http://localhost:3000', '0.0.0.0'],
  ['[::1]', 'http://localhost:3000', '::1'],
  ['2001:db8::7', 'http://[2001:db8::7]:3000', '2001:db8::7'],
])('HOST=%s defaults PUBLIC_URL to %s', (host, publicUrl, listensOn) => {
  expect(readConfig({ HOST: host, SANDBOX: 'off' })).toMatchObject({ publicUrl, host: listensOn });
});

test('rejects HOST=:: with advice while the sandbox is on', () => {
  expect(problemsOf({ HOST: '::' })).toEqual([
    expect.stringContaining('HOST must be loopback while the sandbox is on'),
  ]);
});

test.each([
  [{ ...PRODUCTION }],
  [{ HOST: '0.0.0.0', SANDBOX: 'off' }],
  [{ PUBLIC_URL: 'https://journal.example.com', SANDBOX: 'off' }],
])('a leftover SANDBOX_URL opens no simulator while the sandbox is off: %j', (env) => {
  expect(readConfig({ ...env, SANDBOX_URL: 'http://127.0.0.1:40000' }).sandbox).toEqual({ on: false, url: null });
});

test('/metrics is off in production by default', () => {
  expect(readConfig({}).metrics).toBe('loopback');
  expect(readConfig(PRODUCTION).metrics).toBe('off');
  expect(readConfig({ ...PRODUCTION, METRICS: 'loopback' }).metrics).toBe('loopback');
});

test('reports all problems at once, each with its name and an example', () => {
  const problems = problemsOf({ PORT: 'many', LOG_LEVEL: 'loud', SMTP_URL: 'http://x', SOCIAL_LINKS: 'nowhere' });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['PORT', 'LOG_LEVEL', 'SMTP_URL', 'SOCIAL_LINKS']);
  for (const problem of problems) expect(problem).toMatch(/\(for example [A-Z_]+=.+\)$/);
});

test.each([
  'app.example',
  'https://',
  'https://user@app.example/',
  'https://app**.example/',
  'https://app.**.example/',
  'https://203.0.113.5/',
  'https://app.example\\@evil.example/',
  'javascript://app.example/',
])('rejects %j as a redirect address', (pattern) => {
  expect(problemsOf({ AUTH_REDIRECT_URLS: `https://fine.example/**, ${pattern}` })).toEqual([
    expect.stringMatching(/^AUTH_REDIRECT_URLS /),
  ]);
});

test.each([
  'https://**.app.example/**',
  'http://localhost:*/callback',
  'myapp://callback',
  'com.example.app://login/**',
  'http://[::1]:4100/**',
])('accepts %j as a redirect address', (pattern) => {
  expect(readConfig({ AUTH_REDIRECT_URLS: pattern }).auth.redirectPatterns).toMatchObject([{ text: pattern }]);
});

test.each(['support', 'a@b?cc=c@d', 'a@b,c@d', 'Support <a@b>', 'a@b&body=x'])(
  'rejects SUPPORT_EMAIL=%s, which would inject into a mailto link',
  (address) => {
    expect(problemsOf({ SUPPORT_EMAIL: address })).toMatchObject([expect.stringMatching(/^SUPPORT_EMAIL must be/)]);
  },
);

test('an invalid secret is reported without its value', () => {
  const problems = problemsOf({ DATABASE_URL: 'mysql://forge:hunter2@db/forge' }).join();
  expect(problems).toContain('DATABASE_URL');
  expect(problems).not.toContain('hunter2');
});

test('a secret is not printed by String, JSON or inspect', () => {
  const { databaseUrl } = readConfig({ DATABASE_URL: 'postgres://forge:hunter2@db/forge' });
  const printed = [String(databaseUrl), JSON.stringify({ databaseUrl }), inspect({ databaseUrl })].join(' ');
  expect(printed).not.toContain('hunter2');
  expect(databaseUrl?.reveal()).toContain('hunter2');
});

describe('the addresses of the database', () => {
  const OWNER = 'postgres://ada:hunter2';

  test.each([
    `${OWNER}@db/forge`,
    `${OWNER}@a:5432,b:5433/forge?target_session_attrs=read-write`,
    `${OWNER}@a,b/forge`,
    `${OWNER}@/forge?host=/run/postgresql`,
    `${OWNER}@/forge?host=a,b&target_session_attrs=primary`,
  ])('may be %s', (url) => {
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

  test.each(['postgres://pooler:6432/forge', `${OWNER}@pooler:6432/forge`])('of a pooler may be %s', (url) => {
    const settings = readConfig({ DATABASE_URL: `${OWNER}@a,b/forge`, DATABASE_POOL_URL: url });
    expect(settings.databasePoolUrl?.reveal()).toBe(url);
  });
});

describe('in production', () => {
  test.each([
    ['the public address is missing', { NODE_ENV: 'production' }, 'PUBLIC_URL'],
    ['rate limits are off', { ...PRODUCTION, AUTH_RATE_LIMITS: 'off' }, 'AUTH_RATE_LIMITS'],
    ['the sandbox is on', { ...PRODUCTION, SANDBOX: 'on' }, 'SANDBOX'],
  ])('refuses to start when %s', (_case, env, name) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  test.each([
    ['the embedded database needs no setting but PUBLIC_URL', {}],
    ['several servers share the signing keys of their database', { DATABASE_URL: 'postgres://db/forge' }],
  ])('%s', (_case, env) => {
    expect(readConfig({ ...PRODUCTION, ...env }).sandbox.on).toBe(false);
  });
});

describe('the sandbox is limited to loopback, because it shows every user’s mail', () => {
  test.each([
    [{ HOST: '0.0.0.0' }, 'HOST'],
    [{ PUBLIC_URL: 'https://journal.example.com' }, 'PUBLIC_URL'],
  ])('rejects %o', (env, name) => {
    expect(problemsOf(env)[0]).toMatch(new RegExp(`^${name} `));
  });

  test('accepts any address when it is off', () => {
    expect(readConfig({ HOST: '0.0.0.0', SANDBOX: 'off' }).host).toBe('0.0.0.0');
  });
});

const PAYPAL = { PAYPAL_CLIENT_ID: 'client', PAYPAL_CLIENT_SECRET: 'hush-hush' };

describe('PayPal', () => {
  test('is off by default', () => {
    expect(readConfig({}).paypal).toBeNull();
    expect(readConfig({ PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' }).paypal).toBeNull();
  });

  test('uses the real API with credentials, without webhooks', () => {
    const { paypal } = readConfig({ ...PRODUCTION, ...PAYPAL });
    expect(paypal).toMatchObject({
      apiBase: 'https://api-m.paypal.com',
      clientId: 'client',
      webhookId: null,
    });
    expect(paypal?.clientSecret.reveal()).toBe('hush-hush');
    expect(inspect(paypal) + JSON.stringify(paypal)).not.toContain('hush-hush');
  });

  test.each([
    ['a client without its secret', { PAYPAL_CLIENT_ID: 'client' }, ['PAYPAL_CLIENT_SECRET']],
    ['a secret without its client', { PAYPAL_CLIENT_SECRET: 'hush-hush' }, ['PAYPAL_CLIENT_ID']],
    [
      'a webhook without credentials',
      { PAYPAL_WEBHOOK_ID: '8PT597110X' },
      ['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET'],
    ],
    ['plain http', { ...PAYPAL, PAYPAL_API_BASE: 'http://paypal.example.com' }, ['PAYPAL_API_BASE']],
    ['a path in its address', { ...PAYPAL, PAYPAL_API_BASE: 'https://paypal.example.com/v2' }, ['PAYPAL_API_BASE']],
  ])('rejects %s', (_what, env, names) => {
    const problems = problemsOf(env);
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(names);
    expect(problems.join()).not.toContain('hush-hush');
  });

  const SIMULATOR = {
    ...PAYPAL,
    PAYPAL_API_BASE: 'http://127.0.0.1:40000',
  };

  test('can be a simulator on loopback', () => {
    expect(readConfig(SIMULATOR).paypal).toMatchObject({
      apiBase: 'http://127.0.0.1:40000',
    });
  });

  test('cannot be a simulator in production', () => {
    expect(problemsOf({ ...PRODUCTION, ...SIMULATOR }).map((problem) => problem.split(' ')[0])).toEqual([
      'PAYPAL_API_BASE',
    ]);
    const https = { ...PRODUCTION, ...PAYPAL, PAYPAL_API_BASE: 'https://localhost:8443' };
    expect(problemsOf(https)).toEqual([expect.stringMatching(/^PAYPAL_API_BASE /)]);
  });
});

test('PAYMENT_BLOCKED_COUNTRIES accepts country codes only', () => {
  expect(readConfig({ PAYMENT_BLOCKED_COUNTRIES: 'cu, IR' }).paymentBlockedCountries).toEqual(['CU', 'IR']);
  expect(problemsOf({ PAYMENT_BLOCKED_COUNTRIES: 'Cuba' })).toEqual([
    expect.stringMatching(/^PAYMENT_BLOCKED_COUNTRIES /),
  ]);
});

const OWN_SERVER = { AI_PROVIDER: 'openai-compatible', AI_MODEL: 'llama' };
const GOOGLE = { AI_PROVIDER: 'google', AI_API_KEY: 'AIza-hush-hush' };

describe('the coach', () => {
  test('is off by default and with AI_PROVIDER=none', () => {
    expect(readConfig({}).coach).toBeNull();
    expect(readConfig({ ...GOOGLE, AI_PROVIDER: 'none' }).coach).toBeNull();
  });

  test('needs only a provider and a key', () => {
    const { coach } = readConfig({ ...PRODUCTION, ...GOOGLE });
    expect(coach).toMatchObject({
      provider: 'google',
      model: 'gemini-flash-latest',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
      structuredBy: 'schema',
      dailyLimit: 100,
      timeoutMs: 60_000,
      providerName: 'Google Gemini',
    });
    expect(coach?.apiKey?.reveal()).toBe('AIza-hush-hush');
    expect(inspect(coach) + JSON.stringify(coach)).not.toContain('hush-hush');
  });

  test.each([
    ['http://127.0.0.1:40000', 'http://127.0.0.1:40000/v1beta'],
    ['http://127.0.0.1:40000/v1beta/', 'http://127.0.0.1:40000/v1beta'],
  ])('at another base URL names its host instead of the provider: %s', (AI_BASE_URL, baseUrl) => {
    const { coach } = readConfig({ ...GOOGLE, AI_BASE_URL });
    expect(coach).toMatchObject({ baseUrl, providerName: 'the AI service at 127.0.0.1:40000' });
  });

  test('can be a private model server over http without a key', () => {
    const settings = { ...PRODUCTION, ...OWN_SERVER, AI_BASE_URL: 'http://models:11434/v1' };
    expect(readConfig(settings).coach).toMatchObject({
      baseUrl: 'http://models:11434/v1',
      apiKey: null,
      providerName: 'the AI service at models:11434',
    });
  });

  test.each([
    'http://localhost:11434/v1',
    'http://models:11434/v1',
    'http://models.internal/v1',
    'http://10.1.2.3/v1',
    'http://172.31.0.9/v1',
    'http://192.168.1.20/v1',
    'http://100.64.0.1/v1',
    'http://[fd00::1]/v1',
    'http://[::ffff:10.0.0.1]/v1',
    'https://models.example.com/v1',
  ])('accepts the base URL %s', (AI_BASE_URL) => {
    expect(problemsOf({ ...PRODUCTION, ...OWN_SERVER, AI_BASE_URL })).toEqual([]);
  });

  test.each([
    'http://models.example.com/v1',
    'http://8.8.8.8/v1',
    'http://172.32.0.1/v1',
    'http://10.example.com/v1',
    'http://[2606:4700::1111]/v1',
    'http://[::ffff:8.8.8.8]/v1',
    'http://models.example.com./v1',
  ])('rejects unencrypted http to a public host: %s', (AI_BASE_URL) => {
    for (const production of [{}, PRODUCTION])
      expect(problemsOf({ ...production, ...OWN_SERVER, AI_BASE_URL })).toEqual([
        expect.stringMatching(/^AI_BASE_URL must begin with https:/),
      ]);
  });

  test.each([
    ['a key without a provider', { AI_API_KEY: 'AIza-hush-hush' }, ['AI_PROVIDER']],
    ['no key', { AI_PROVIDER: 'google' }, ['AI_API_KEY']],
    ['only a provider', { AI_PROVIDER: 'openai-compatible' }, ['AI_BASE_URL', 'AI_MODEL']],
    ['no model', { ...GOOGLE, AI_PROVIDER: 'anthropic' }, ['AI_MODEL']],
    ['plain http', { ...GOOGLE, AI_BASE_URL: 'http://gemini.example.com' }, ['AI_BASE_URL']],
    ['plain http in production', { ...PRODUCTION, ...GOOGLE, AI_BASE_URL: 'http://127.0.0.1:1' }, ['AI_BASE_URL']],
    ['a key in the address', { ...GOOGLE, AI_BASE_URL: 'https://x.example.com/?key=hush-hush' }, ['AI_BASE_URL']],
    ['a user in the address', { ...GOOGLE, AI_BASE_URL: 'https://hush-hush@x.example.com' }, ['AI_BASE_URL']],
    [
      'a password without a user in the address',
      { ...GOOGLE, AI_BASE_URL: 'https://:hush-hush@x.example.com' },
      ['AI_BASE_URL'],
    ],
    ['a key of two lines', { ...GOOGLE, AI_API_KEY: 'hush-hush\nhush-hush' }, ['AI_API_KEY']],
    ['a key with a blank in it', { ...GOOGLE, AI_API_KEY: 'Bearer hush-hush' }, ['AI_API_KEY']],
    ['a key with a non-ASCII dash', { ...GOOGLE, AI_API_KEY: 'hush-hush–hush' }, ['AI_API_KEY']],
    ['an unknown structured mode', { ...GOOGLE, AI_STRUCTURED: 'xml' }, ['AI_STRUCTURED']],
  ])('rejects %s', (_what, env, names) => {
    const problems = problemsOf(env);
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(names);
    expect(problems.join()).not.toContain('hush-hush');
  });
});

test('.env.example names exactly the settings that are read', () => {
  const read = new Set<string>();
  readConfig(new Proxy<Record<string, string>>({}, { get: (_env, name) => void read.add(String(name)) }));
  const example = readFileSync(`${import.meta.dirname}/../../../.env.example`, 'utf8');
  const listed = [...example.matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]);
  expect(listed.toSorted()).toEqual([...read].toSorted());
});

test.each(['ftp://127.0.0.1', 'http://id.example.com', 'https://id.example.com?realm=1'])(
  'rejects %s as the address of a provider, also in development',
  (SMS_API_BASE) => {
    const sms = { SMS_ACCOUNT_SID: 'AC0', SMS_AUTH_TOKEN: 'secret', SMS_FROM: '+15005550006' };
    expect(problemsOf({ ...sms, SMS_API_BASE })).toContainEqual(
      expect.stringContaining('SMS_API_BASE must be an https address'),
    );
  },
);
