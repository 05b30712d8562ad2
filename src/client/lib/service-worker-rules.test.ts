import { describe, expect, test } from 'vitest';
import {
  handlingOf,
  isServerAnswer,
  isStorableAsset,
  isStorableShell,
  outdatedAssets,
  shellPathOf,
} from './service-worker-rules.ts';

const ORIGIN = 'https://journal.example';
const handle = (path: string, mode: RequestMode = 'navigate', method = 'GET') =>
  handlingOf({ method, mode, url: new URL(path, ORIGIN).href }, ORIGIN);

describe('the worker', () => {
  test.each([
    '/',
    '/journal',
    '/journal?date=2026-11-22',
    '/reviews',
    '/year/2026',
    '/settings',
    '/profile',
    '/receipt',
    '/login',
  ])('answers the page %s', (path) => expect(handle(path)).toBe('page'));

  test.each([
    '/auth/v1/verify?token=abc',
    '/auth/v1/undo-deletion',
    '/rest/v1/entries',
    '/functions/v1/analyze',
    '/sandbox',
    '/reset-password?token_hash=abc',
    '/login?code=abc',
    '/journal?error=access_denied',
    '/?token_hash=abc&type=recovery',
    '/terms-and-conditions',
    '/healthz',
    '/config.json',
    '/unknown',
    '/s/W6UE7eCkxb3LBkZGqk8sLzXJ0tQv1m2n3o4p5q6r7s8',
    '/evening/abc?entry=0',
    '/unsubscribe/abc',
    '/connect?user_code=WDJB-MJHT',
    '/assets/app-1.js',
  ])('leaves the navigation to %s to the network', (path) => expect(handle(path)).toBe('network'));

  test.each([
    '/auth/v1/user',
    '/rest/v1/entries',
    '/functions/v1/analyze',
    '/sandbox/mail',
    '/config.json',
    '/journal',
  ])('leaves the request for %s to the network', (path) => {
    for (const mode of ['cors', 'same-origin', 'no-cors'] as const) expect(handle(path, mode)).toBe('network');
  });

  test('answers hashed files only with GET and from this origin', () => {
    expect(handle('/assets/app-1.js', 'cors')).toBe('asset');
    expect(handle('/assets/app-1.js', 'cors', 'HEAD')).toBe('network');
    expect(handle('https://other.example/assets/app-1.js', 'cors')).toBe('network');
    expect(handle('https://other.example/journal')).toBe('network');
  });

  test('answers shared text, but no posted form', () => {
    expect(handle('/share?text=abc')).toBe('share');
    expect(handle('/share', 'navigate', 'POST')).toBe('network');
    expect(handle('/journal', 'navigate', 'POST')).toBe('network');
  });
});

test('the landing page has its own HTML', () => {
  expect([shellPathOf('/'), shellPathOf('/settings'), shellPathOf('/journal')]).toEqual(['/', '/journal', '/journal']);
});

test.each([
  [200, true],
  [304, true],
  [404, true],
  [0, true],
  [500, false],
  [503, false],
])('status %d is the answer of the server: %s', (status, expected) => {
  expect(isServerAnswer({ status })).toBe(expected);
});

const answer = (type: string, other: object = {}) => ({
  ok: true,
  redirected: false,
  type: 'basic' as const,
  headers: new Headers({ 'content-type': type }),
  ...other,
});

describe('an asset', () => {
  const script = 'text/javascript; charset=utf-8';

  test.each([
    ['/assets/app-1.js', script],
    ['/assets/app-1.css', 'text/css; charset=utf-8'],
    ['/assets/sans-1.woff2', 'font/woff2'],
  ])('is stored: %s', (path, type) => expect(isStorableAsset(path, answer(type))).toBe(true));

  test.each([
    ['has another type', answer('text/html')],
    ['was redirected', answer(script, { redirected: true })],
    ['is an error', answer(script, { ok: false })],
    ['is opaque', answer(script, { type: 'opaque' })],
    ['has no type', { ...answer(script), headers: new Headers() }],
  ])('is not stored if the response %s', (_what, response) =>
    expect(isStorableAsset('/assets/app-1.js', response)).toBe(false),
  );

  test('is not stored if its file extension is unknown', () => {
    expect(isStorableAsset('/assets/data.json', answer('application/json'))).toBe(false);
  });
});

describe('a page', () => {
  const files = new Set(['/assets/app-1.js', '/assets/app-1.css', '/assets/boot-1.js']);
  const html = '<script src="/assets/boot-1.js"></script><link href="/assets/app-1.css"><img src="/assets/a.svg">';
  const isStored = (text: string, response = answer('text/html; charset=utf-8')) =>
    isStorableShell(response, text, files);

  test('is stored if it refers to files of this version', () => expect(isStored(html)).toBe(true));

  test('is not stored if it refers to a file of another version, or to none', () => {
    expect(isStored(html.replace('boot-1', 'boot-2'))).toBe(false);
    expect(isStored('<h1>Sign in to the hotel</h1>')).toBe(false);
  });

  test('is not stored after a redirect, as an error or with another type', () => {
    expect(isStored(html, answer('text/html', { redirected: true }))).toBe(false);
    expect(isStored(html, answer('text/html', { ok: false }))).toBe(false);
    expect(isStored(html, answer('text/plain'))).toBe(false);
  });
});

describe('assets of earlier versions', () => {
  const stored = ['/assets/old.js', '/assets/new.js'];
  const files = new Set(['/assets/new.js']);

  test('are deleted once a single page is open', () => {
    expect(outdatedAssets(stored, files, 1)).toEqual(['/assets/old.js']);
  });

  test('stay while another page is open', () => {
    expect(outdatedAssets(stored, files, 2)).toEqual([]);
  });
});
