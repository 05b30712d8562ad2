import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { redirectTarget } from './redirects.ts';

const HOME = 'https://journal.example.com';

async function targetOf(target: string, redirectAllowList: string[] = [], publicUrl = HOME): Promise<string> {
  const app = new Hono();
  const auth = {
    autoconfirm: true,
    rateLimits: true,
    signingKeyFile: null,
    redirectAllowList,
    clientAddressHeader: null,
  };
  app.get('/', (context) => context.text(redirectTarget(context, { publicUrl, auth, contact: { social: [] } })));
  return (await app.request(`/?redirect_to=${encodeURIComponent(target)}`)).text();
}

test.each([`${HOME}/reset-password`, `${HOME}?a=b#c`, 'http://127.0.0.1:5173/welcome', 'http://[::1]:5173/welcome'])(
  '%s is allowed',
  async (target) => expect(await targetOf(target)).toBe(target),
);

test.each([
  'https://evil.example',
  'https://journal.example.com.evil.example/',
  'https://journal.example.com:8443/',
  'http://journal.example.com/',
  'https://user@journal.example.com/',
  'https://journal.example.com/\r\nSet-Cookie: a=b',
  '//evil.example/',
  '/reset-password',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://2130706433/',
  'http://10.0.0.1/',
  '',
])('%j is replaced by our own address', async (target) => expect(await targetOf(target)).toBe(HOME));

test('the port does not matter where home is loopback', async () => {
  expect(await targetOf('http://localhost:5173/x', [], 'http://localhost:3000')).toBe('http://localhost:5173/x');
});

test('patterns stop at separators unless they are doubled', async () => {
  const list = ['https://*.preview.example/**', 'myapp://callback'];
  expect(await targetOf('https://one.preview.example/a/b', list)).toBe('https://one.preview.example/a/b');
  expect(await targetOf('myapp://callback', list)).toBe('myapp://callback');
  expect(await targetOf('https://a.b.preview.example/', list)).toBe(HOME);
  expect(await targetOf('https://previewXexample/', list)).toBe(HOME);
  expect(await targetOf('https://203.0.113.5/', ['https://203.0.113.5/'])).toBe(HOME);
});
