import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { loadSite, pageRoutes } from './pages.ts';

const SCRIPT = 'export const answer = 42;\n'.repeat(40);
let dist = '';

beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'hustle-forge-site-'));
  await mkdir(join(dist, 'assets'));
  await mkdir(join(dist, 'cli'));
  await mkdir(join(dist, '.vite'));
  const routes = {
    journal: {
      early: ['assets/editor-1.js'],
      scripts: ['assets/editor-1.js', 'assets/journal-1.js'],
      styles: ['assets/journal-1.css'],
    },
    settings: { early: [], scripts: ['assets/settings-1.js'], styles: [] },
  };
  await Promise.all([
    writeFile(
      join(dist, 'app.html'),
      '<head><link rel="preload" href="/assets/sans-1.woff2" as="font"><!--slot:config--><script src="/assets/boot-1.js"></script></head><p><!--when:journal-->the log<!--/when--><!--when:login-->sign in<!--when:signups--> or join<!--/when--><!--/when--></p><!--slot:sandbox-->',
    ),
    writeFile(
      join(dist, 'landing.html'),
      '<p><!--slot:operator--> <!--slot:social--> <!--slot:unknown--></p><!--when:coach-->asks<!--/when--><!--when:nocoach-->reads<!--/when--><!--when:signups-->joins<!--/when-->',
    ),
    writeFile(join(dist, 'terms.html'), 'terms'),
    writeFile(join(dist, 'privacy.html'), 'privacy'),
    writeFile(join(dist, 'favicon.svg'), '<svg/>'),
    writeFile(join(dist, 'service-worker.js'), 'stores("hustle-forge-shell-version")'),
    writeFile(join(dist, 'service-worker-off.js'), 'removes()'),
    writeFile(join(dist, 'cli', 'hustle.cjs'), 'connect("HUSTLE-FORGE-SERVER")'),
    writeFile(join(dist, 'assets', 'app-1.js'), SCRIPT),
    writeFile(join(dist, 'assets', 'newsreader-latin-wght-normal-1.woff2'), 'serif'),
    writeFile(join(dist, 'assets', 'app-1.js.br'), brotliCompressSync(SCRIPT)),
    writeFile(join(dist, '.vite', 'routes.json'), JSON.stringify(routes)),
  ]);
});
afterAll(() => rm(dist, { recursive: true, force: true }));

const visit = async (path: string, headers: Record<string, string> = {}, env: Record<string, string> = {}) =>
  pageRoutes(await loadSite(dist, readConfig(env))).request(path, { headers });

describe('files', () => {
  test('serves a hashed file compressed and immutable', async () => {
    const answer = await visit('/assets/app-1.js', { 'accept-encoding': 'gzip, br' });
    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(brotliDecompressSync(new Uint8Array(await answer.arrayBuffer())).toString()).toBe(SCRIPT);
  });

  test.each(['', 'gzip', 'br;q=0', 'gzip, br;q=0.0'])(
    'serves a file uncompressed for Accept-Encoding "%s"',
    async (accepted) => {
      const answer = await visit('/assets/app-1.js', { 'accept-encoding': accepted });
      expect(answer.headers.get('content-encoding')).toBeNull();
      expect(await answer.text()).toBe(SCRIPT);
    },
  );

  test('answers 304 for a matching ETag', async () => {
    const etag = (await visit('/assets/app-1.js')).headers.get('etag')!;
    const again = await visit('/assets/app-1.js', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('serves a font under a name without a hash and revalidates it', async () => {
    const answer = await visit('/fonts/newsreader.woff2');
    expect([await answer.text(), answer.headers.get('cache-control')]).toEqual(['serif', 'no-cache']);
    expect(answer.headers.get('content-type')).toBe('font/woff2');
  });

  test('offers the program with the address of this server in it', async () => {
    const at = (url: string) => visit('/cli/hustle.cjs', {}, { PUBLIC_URL: url, SANDBOX: 'off' });
    const answer = await at('https://journal.example');
    expect(await answer.text()).toBe('connect("https://journal.example")');
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('etag')).not.toBe((await at('https://other.example')).headers.get('etag'));
  });

  test('revalidates a file without a hash', async () => {
    expect((await visit('/favicon.svg')).headers.get('cache-control')).toBe('no-cache');
  });

  test.each([
    '/assets/missing.js',
    '/assets/app-1.js.br',
    '/assets/../.vite/routes.json',
    '/assets/..%2f.vite/routes.json',
    '/assets/%2e%2e/%2e%2e/etc/passwd',
    '/.vite/routes.json',
    '/app.html',
  ])('%s is not found', async (path) => {
    expect((await visit(path)).status).toBe(404);
  });
});

describe('pages', () => {
  test.each(['/login', '/signup', '/journal', '/settings'])('%s serves the app page and revalidates', async (path) => {
    const answer = await visit(path);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(await answer.text()).toContain('name="hustle-forge-config"');
  });

  test('only the page of a route has what the route shows before React starts', async () => {
    const textOf = async (path: string, env = {}) => /<p>(.*)<\/p>/.exec(await (await visit(path, {}, env)).text())![1];
    for (const path of ['/reviews', '/year/:year', '/settings', '/profile', '/receipt', '/signup', '/reset-password'])
      expect(await textOf(path), path).toBe('');
    expect(await textOf('/journal')).toBe('the log');
    expect(await textOf('/login')).toBe('sign in or join');
    expect(await textOf('/login', { AUTH_SIGNUPS: 'off' })).toBe('sign in');
  });

  test('escapes operator settings and omits unset ones', async () => {
    const settings = { OPERATOR_NAME: '<script>"Forge"</script>', SOCIAL_LINKS: 'A&B=https://example.com/?a=1&b=2' };
    const text = await (await visit('/', {}, settings)).text();
    expect(text).toContain('&lt;script&gt;&quot;Forge&quot;&lt;/script&gt;');
    expect(text).toContain('<a href="https://example.com/?a=1&amp;b=2">A&amp;B</a>');
    expect(await (await visit('/')).text()).toBe('<p>  </p>readsjoins');
  });

  test('shows coach sections only on a server with a coach', async () => {
    expect(await (await visit('/', {}, { AI_PROVIDER: 'google', AI_API_KEY: 'key' })).text()).toContain('</p>asks');
  });

  test('offers a sign-up only on a server that creates accounts', async () => {
    expect(await (await visit('/')).text()).toContain('joins');
    expect(await (await visit('/', {}, { AUTH_SIGNUPS: 'off' })).text()).not.toContain('joins');
  });

  test('inlines the same settings as /config.json', async () => {
    const page = await (await visit('/login')).text();
    const content = /content="([^"]*)"/.exec(page)![1]!.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    expect(JSON.parse(content)).toEqual(await (await visit('/config.json')).json());
  });

  test('shows the sandbox badge only while the sandbox runs', async () => {
    expect(await (await visit('/login')).text()).not.toContain('/sandbox');
    expect(await (await visit('/login', {}, { SANDBOX_URL: 'http://127.0.0.1:1' })).text()).toContain(
      'href="/sandbox"',
    );
  });

  test("allows a captcha's sources only to the app's page, also while it is unchanged", async () => {
    const captcha = { CAPTCHA_PROVIDER: 'hcaptcha', CAPTCHA_SITE_KEY: 'site', CAPTCHA_SECRET: 'secret' };
    const { page } = securityHeaders(readConfig(captcha));
    const policyOf = async (path: string, headers = {}): Promise<string> =>
      (await visit(path, headers, captcha)).headers.get('content-security-policy') ??
      page.find(([name]) => name === 'Content-Security-Policy')![1];
    for (const path of ['/', '/terms', '/privacy', '/assets/app-1.js'])
      expect(await policyOf(path), path).not.toContain('hcaptcha');
    const etag = (await visit('/login', {}, captcha)).headers.get('etag')!;
    expect(await policyOf('/login')).toContain('https://*.hcaptcha.com');
    expect(await policyOf('/login', { 'if-none-match': etag })).toContain('https://*.hcaptcha.com');
  });

  test('sends preload headers, first for what the first paint waits for, and links the style sheets of a route', async () => {
    const page = await visit('/journal');
    expect(page.headers.get('link')!.split(', ')).toEqual([
      '</assets/journal-1.css>; rel=preload; as=style; crossorigin',
      '</assets/boot-1.js>; rel=preload; as=script',
      '</assets/editor-1.js>; rel=modulepreload',
    ]);
    expect((await visit('/settings')).headers.get('link')!.split(', ').slice(-1)).toEqual([
      '</assets/settings-1.js>; rel=modulepreload; fetchpriority=low',
    ]);
    const link = '<link rel="stylesheet" crossorigin href="/assets/journal-1.css">';
    expect(await page.text()).toContain(`${link}</head>`);
    expect(await (await visit('/login')).text()).not.toContain(link);
  });

  test('leaves all that an early editor does not need to the boot script', async () => {
    const sandbox = { SANDBOX_URL: 'http://127.0.0.1:1' };
    const page = await (await visit('/journal', {}, sandbox)).text();
    const [, early, late, rest] = /^(.*)<template id="late-preloads">(.*?)<\/template>(.*)$/s.exec(page)!;
    expect(late).toBe(
      '<link rel="preload" href="/assets/sans-1.woff2" as="font"><script src="/sandbox/page.js" type="module"></script>' +
        '<link rel="modulepreload" crossorigin href="/assets/journal-1.js">',
    );
    expect(rest).toMatch(/^<script src="\/assets\/boot-1.js">/);
    expect(early! + rest!).not.toMatch(/sans-1|page\.js/);
    const other = await (await visit('/settings', {}, sandbox)).text();
    expect(other).toMatch(/^<head><link rel="preload"/);
    expect(other).not.toContain('<template');
  });

  test('sends no preload headers to the service worker of this version, which has the files', async () => {
    const { shellVersion } = await loadSite(dist, readConfig({}));
    const visitBy = (version: string) => visit('/journal', { 'service-worker-navigation-preload': version });
    const [own, older] = [await visitBy(shellVersion), await visitBy('older')];
    expect([own.status, own.headers.get('link')]).toEqual([200, null]);
    expect(older.headers.get('link')).toContain('modulepreload');
    // A cache must not give this answer to a browser without the worker.
    for (const { headers } of [own, older, await visit('/journal')])
      expect(headers.get('vary')).toContain('Service-Worker-Navigation-Preload');
  });

  test('serves the API without a build', async () => {
    const site = await loadSite(join(dist, 'nowhere'), readConfig({}));
    expect((await pageRoutes(site).request('/login')).status).toBe(404);
    expect((await pageRoutes(site).request('/config.json')).status).toBe(200);
  });
});

describe('the service worker', () => {
  const worker = async (env: Record<string, string> = {}) => {
    const answer = await visit('/service-worker.js', {}, env);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    return answer.text();
  };

  test('changes with the settings in the pages that it stores, and only with them', async () => {
    const text = await worker();
    expect(text).toMatch(/^stores\("[\w-]{22}"\)$/);
    expect(text).toContain((await loadSite(dist, readConfig({}))).shellVersion);
    expect(await worker()).toBe(text);
    expect(await worker({ LOG_LEVEL: 'debug' })).toBe(text);
    expect(await worker({ OPERATOR_NAME: 'Ada' })).not.toBe(text);
  });

  test('is replaced by one that removes it if it is off', async () => {
    expect(await worker({ SERVICE_WORKER: 'off' })).toBe('removes()');
  });

  test('is allowed by the policy of every page', async () => {
    const { page } = securityHeaders(readConfig({}));
    expect(page.find(([name]) => name === 'Content-Security-Policy')![1]).toContain("worker-src 'self'");
    expect((await visit('/journal')).headers.get('content-security-policy')).toContain("worker-src 'self'");
  });
});

test('shared text comes to the journal in the fragment, and no cache keeps it', async () => {
  const answer = await visit('/share?title=A%20%26%20B&text=words');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/journal#shared=A%20%26%20B%0Awords');
  expect(answer.headers.get('cache-control')).toBe('no-store');
});
