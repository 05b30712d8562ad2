import fc from 'fast-check';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../../tests/support/cpu-time.ts';
import { readConfig } from '#server/config/config.ts';
import { oauthErrorName, redirectTarget } from './redirects.ts';

const HOME = 'https://journal.example.com';

async function targetOf(target: string, listed: string[] = [], publicUrl = HOME): Promise<string> {
  const config = readConfig({ PUBLIC_URL: publicUrl, SANDBOX: 'off', AUTH_REDIRECT_URLS: listed.join(',') });
  const app = new Hono();
  app.get('/', (context) => context.text(redirectTarget(context, config)));
  return (await app.request(`/?redirect_to=${encodeURIComponent(target)}`)).text();
}

test.each([`${HOME}/reset-password`, `${HOME}?a=b#c`, `${HOME}/login?next=%2Fjournal`])(
  'allows %s on the PUBLIC_URL origin',
  async (target) => expect(await targetOf(target)).toBe(target),
);

test.each([
  [400, 'invalid_request'],
  [500, 'server_error'],
  [503, 'temporarily_unavailable'],
  [422, undefined],
])('names the OAuth error of status %s %s', (status, name) => expect(oauthErrorName(status)).toBe(name));

test('refuses a target of thousands of characters without matching it', async () => {
  const target = `https://${'-'.repeat(14_000)}.x`;
  const refuse = async () => expect(await targetOf(target, ['https://*-*-*-*.example.net/**'])).toBe(HOME);
  // Without a limit, each `*` would multiply the time by the length of the host.
  expect(await measureCpuMs(refuse)).toBeLessThan(1_000);
});

test.each([
  'https://evil.example',
  'https://journal.example.com.evil.example/',
  'https://journal.example.com:8443/',
  'http://journal.example.com/',
  'https://user@journal.example.com/',
  'https://journal.example.com@evil.example/',
  'https://journal.example.com:443@evil.example/',
  'https://journal.example.com\\@evil.example/',
  'https:\\\\journal.example.com/',
  'https:/journal.example.com/',
  'https:journal.example.com/',
  'https://journal.example.com/\r\nSet-Cookie: a=b',
  'https://journal.example.com/a\tb',
  'https://journal.example.com/a%0d%0aSet-Cookie:b',
  'https://journal.example.com/..%2f..%5cevil',
  'https://journal.example.com%2f@evil.example/',
  'https://journal。example.com/',
  'https://ｊournal.example.com/',
  'https://%6aournal.example.com/',
  '//evil.example/',
  '/reset-password',
  'javascript:alert(1)',
  'javascript://journal.example.com/%0aalert(1)',
  'data:text/html,x',
  'blob:https://journal.example.com/x',
  'https://2130706433/',
  'http://10.0.0.1/',
  'http://127.0.0.1:1337/take',
  'http://localhost:1337/take',
  'http://[::1]:1337/take',
  '',
])('replaces %j with PUBLIC_URL', async (target) => expect(await targetOf(target)).toBe(HOME));

const LOCAL = 'http://localhost:3000';

test.each(['http://localhost:5173/x', 'http://127.0.0.1:5173/welcome', 'http://[::1]:5173/welcome'])(
  'allows %s when PUBLIC_URL is loopback',
  async (target) => expect(await targetOf(target, [], LOCAL)).toBe(target),
);

test.each(['http://localhost:3000@evil.example/', 'http://localhost.evil.example:3000/', 'http://127.1:3000/'])(
  'replaces %s with PUBLIC_URL when that is loopback',
  async (target) => expect(await targetOf(target, [], LOCAL)).toBe(LOCAL),
);

test('allows a loopback target on a public server when it is listed', async () => {
  const listed = ['http://127.0.0.1:1337/**', 'http://localhost:*/callback'];
  expect(await targetOf('http://127.0.0.1:1337/take', listed)).toBe('http://127.0.0.1:1337/take');
  expect(await targetOf('http://localhost:9000/callback', listed)).toBe('http://localhost:9000/callback');
  expect(await targetOf('http://127.0.0.1:1338/take', listed)).toBe(HOME);
});

test('matches a listed pattern by scheme, host, port and path', async () => {
  const listed = ['https://*.preview.example/**', 'https://app.example/welcome', 'myapp://callback'];
  for (const target of [
    'https://one.preview.example/a/b?c=d',
    'https://ONE.preview.example/',
    'https://app.example/welcome',
    'myapp://callback',
  ]) {
    expect(await targetOf(target, listed)).toBe(target);
  }
  for (const target of [
    'https://a.b.preview.example/',
    'https://previewXexample/',
    'https://one.preview.example.evil.example/',
    'https://evil.example/.preview.example/',
    'https://one.preview.example:8443/',
    'http://one.preview.example/',
    'https://app.example/',
    'https://app.example/welcome/../admin',
    'https://app.example/welcome/%2e%2e/admin',
    'https://app.example/welcome/more',
    'myapp://callback.evil',
    'myapp2://callback',
  ]) {
    expect(await targetOf(target, listed), target).toBe(HOME);
  }
});

const pieces = [
  ...['https:', 'http:', 'HTTPS:', 'javascript:', 'myapp:', '/', '//', '\\', ':', '@', '.', '%2f', '%5c', '%00', '%40'],
  ...['journal.example.com', 'app.example', 'one.preview.example', 'evil.example', 'localhost', '127.0.0.1', '[::1]'],
  ...[
    ':443',
    ':3000',
    '?',
    '#',
    ';',
    "'",
    ' ',
    '\t',
    '\n',
    '\0',
    '。',
    'ａ',
    '\u202e',
    'xn--',
    '..',
    'welcome',
    'user',
  ],
];
const oddTarget = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((parts) => parts.join('')),
  fc.webUrl(),
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => `https://${parts.join('')}`),
);

test('accepts no generated URL that a browser would follow to an unlisted host', async () => {
  const hosts = new Set(['journal.example.com', 'app.example', 'one.preview.example']);
  const listed = ['https://app.example/**', 'https://one.preview.example/**'];
  await fc.assert(
    fc.asyncProperty(oddTarget, async (target) => {
      const accepted = await targetOf(target, listed);
      // A browser resolves a Location header relative to the current page.
      const followed = new URL(accepted, `${HOME}/auth/v1/verify`);
      expect(hosts).toContain(followed.hostname);
      expect([followed.protocol, followed.port, followed.username, followed.password]).toEqual(['https:', '', '', '']);
      expect(accepted).toMatch(/^https:\/\/[a-z.]+(?:[/?#][\x21-\x5b\x5d-\x7e]*)?$/i);
    }),
    { numRuns: 500 },
  );
});
