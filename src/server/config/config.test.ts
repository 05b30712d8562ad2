import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PRODUCTION, problemsOf } from '../../../tests/support/config-problems.ts';
import { readConfig } from './config.ts';

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

test.each(['/journal', '?a=1', '#journal'])('rejects PUBLIC_URL with %s, which would be dropped', (rest) => {
  expect(problemsOf({ PUBLIC_URL: `http://localhost:3000${rest}` })).toEqual([
    expect.stringMatching(/^PUBLIC_URL must be an http or https address without a user, path, query or fragment/),
  ]);
});

test('rejects API_URL with a password and does not show it', () => {
  const problems = problemsOf({ API_URL: 'https://ada:hunter2@project.supabase.co' });
  expect(problems).toEqual([expect.stringMatching(/^API_URL must be/)]);
  expect(problems.join()).not.toContain('hunter2');
});

test.each(['https://Journal.example.com:443', 'https://journal.example.com/'])(
  'accepts PUBLIC_URL=%s',
  (PUBLIC_URL) => {
    expect(readConfig({ ...PRODUCTION, PUBLIC_URL }).publicUrl).toBe('https://journal.example.com');
  },
);

test.each([
  ['::', 'http://localhost:3000', '::'],
  ['0.0.0.0', 'http://localhost:3000', '0.0.0.0'],
  ['[::1]', 'http://localhost:3000', '::1'],
  ['2001:db8::7', 'http://[2001:db8::7]:3000', '2001:db8::7'],
])('HOST=%s defaults PUBLIC_URL to %s', (host, publicUrl, listensOn) => {
  expect(readConfig({ HOST: host, SANDBOX: 'off' })).toMatchObject({ publicUrl, host: listensOn });
});

test('rejects a HOST that is no address, and names it', () => {
  for (const SANDBOX of ['on', 'off']) {
    expect(problemsOf({ HOST: '999.1.1.1', SANDBOX })[0]).toBe(
      'HOST must be an address of this machine, not "999.1.1.1" (for example HOST=127.0.0.1)',
    );
  }
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

test('AUTH_AUTOCONFIRM is off by default in production with mail, and may be set', () => {
  const autoconfirm = (env: Record<string, string>) => readConfig(env).auth.autoconfirm;
  const mail = { SMTP_URL: 'smtps://user:password@mail.example.com' };
  expect([autoconfirm(mail), autoconfirm(PRODUCTION), autoconfirm({ ...PRODUCTION, ...mail })]).toEqual([
    true,
    true,
    false,
  ]);
  expect(autoconfirm({ ...PRODUCTION, ...mail, AUTH_AUTOCONFIRM: 'on' })).toBe(true);
});

test('reports all problems at once, each with its name and an example', () => {
  const problems = problemsOf({ PORT: 'many', LOG_LEVEL: 'loud', SMTP_URL: 'http://x', SOCIAL_LINKS: 'nowhere' });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['PORT', 'SMTP_URL', 'LOG_LEVEL', 'SOCIAL_LINKS']);
  for (const problem of problems) expect(problem).toMatch(/\(for example [A-Z_]+=.+\)$/);
});

test('rejects an SMTP_URL without a host', () => {
  expect(problemsOf({ SMTP_URL: 'smtp:///x' })).toEqual([
    expect.stringMatching(/^SMTP_URL must be .* and names a host/),
  ]);
});

test.each(['SMTP_URL', 'DATABASE_URL'])('rejects %s with a bare % in its password', (name) => {
  const protocol = name === 'SMTP_URL' ? 'smtps' : 'postgres';
  expect(problemsOf({ [name]: `${protocol}://user:50%off@mail.example.com/forge` })).toEqual([
    expect.stringContaining(
      `${name} has a % that begins no escape: in a user or password, write %, @, /, ? and # as %25`,
    ),
  ]);
  expect(problemsOf({ [name]: `${protocol}://user:50%25off@mail.example.com/forge` })).toEqual([]);
});

test('rejects an escape that the user begins and the password ends', () => {
  expect(problemsOf({ SMTP_URL: 'smtps://user%4:1off@mail.example.com' })).toEqual([
    expect.stringContaining('SMTP_URL has a % that begins no escape'),
  ]);
});

test('names a setting in quotes, and no other fault of it', () => {
  expect(problemsOf({ PUBLIC_URL: '"http://localhost:3000"', PORT: "'3000'" }).toSorted()).toEqual([
    expect.stringMatching(/^PORT stands in quotes, which Docker’s env files do not remove/),
    expect.stringMatching(/^PUBLIC_URL stands in quotes/),
  ]);
  expect(problemsOf({ MAIL_FROM: '"Journal" <journal@example.com>' })).toEqual([]);
});

test('lets mails leave without encryption to a relay on a private network only', () => {
  const tlsOf = (host: string) => readConfig({ SMTP_URL: `smtp://${host}`, SMTP_TLS: 'off' }).mail.tls;
  expect([tlsOf('10.0.0.9:25'), tlsOf('relay.internal')]).toEqual([false, false]);
  for (const SMTP_URL of ['smtp://mail.example.com', '']) {
    expect(problemsOf({ SMTP_URL, SMTP_TLS: 'off' })).toEqual([expect.stringMatching(/^SMTP_TLS can be off only/)]);
  }
});

test.each(['support', 'a@b?cc=c@d', 'a@b,c@d', 'Support <a@b>', 'a@b&body=x'])(
  'rejects SUPPORT_EMAIL=%s, which would inject into a mailto link',
  (address) => {
    expect(problemsOf({ SUPPORT_EMAIL: address })).toMatchObject([expect.stringMatching(/^SUPPORT_EMAIL must be/)]);
  },
);

test.each(['X Forwarded For', 'X-Forwarded-For:', 'X-Forwarded-For, X-Real-IP'])(
  'rejects CLIENT_ADDRESS_HEADER=%s, with which every sign-in would fail',
  (header) => {
    expect(problemsOf({ CLIENT_ADDRESS_HEADER: header })).toEqual([
      expect.stringMatching(/^CLIENT_ADDRESS_HEADER must be/),
    ]);
  },
);

test.each(['Hustle Forge', 'journal@', 'Journal <journal>', 'Journal <a@b'])(
  'rejects MAIL_FROM=%s, with which mails would have no sender',
  (from) => {
    expect(problemsOf({ MAIL_FROM: from })).toEqual([expect.stringMatching(/^MAIL_FROM must be/)]);
  },
);

test.each(['journal@example.com', 'Hustle Forge <journal@example.com>', '"Forge, Hustle" <journal@localhost>'])(
  'accepts MAIL_FROM=%s',
  (from) => {
    expect(readConfig({ MAIL_FROM: from }).mail.from).toBe(from);
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

  test('accepts any address while the sandbox is off', () => {
    expect(readConfig({ HOST: '0.0.0.0', SANDBOX: 'off' }).host).toBe('0.0.0.0');
  });
});

test('PAYMENT_BLOCKED_COUNTRIES accepts country codes only', () => {
  expect(readConfig({ PAYMENT_BLOCKED_COUNTRIES: 'cu, IR' }).paymentBlockedCountries).toEqual(['CU', 'IR']);
  expect(problemsOf({ PAYMENT_BLOCKED_COUNTRIES: 'Cuba' })).toEqual([
    expect.stringMatching(/^PAYMENT_BLOCKED_COUNTRIES /),
  ]);
});

test('.env.example names exactly the settings that are read', () => {
  const read = new Set<string>();
  readConfig(new Proxy<Record<string, string>>({}, { get: (_env, name) => void read.add(String(name)) }));
  const example = readFileSync(`${import.meta.dirname}/../../../.env.example`, 'utf8');
  const listed = [...example.matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]);
  expect(listed.toSorted()).toEqual([...read].toSorted());
});
