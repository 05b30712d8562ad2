import { describe, expect, test } from 'vitest';
import { handlingOf, isServerAnswer, isStorableAsset, isStorableShell, outdatedAssets, shellPathOf } from './rules.ts';

const ORIGIN = 'https://journal.example';
const handle = (path: string, mode: RequestMode = 'navigate', method = 'GET') =>
  handlingOf({ method, mode, url: new URL(path, ORIGIN).href }, ORIGIN);

describe('the requests that the worker answers', () => {
  test.each(['/', '/journal', '/journal?date=2026-11-22', '/reviews', '/settings', '/profile', '/receipt', '/login'])(
    'page %s',
    (path) => expect(handle(path)).toBe('page'),
  );

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
    '/assets/app-1.js',
  ])('not the navigation to %s', (path) => expect(handle(path)).toBe('network'));

  test.each([
    '/auth/v1/user',
    '/rest/v1/entries',
    '/functions/v1/analyze',
    '/sandbox/mail',
    '/config.json',
    '/journal',
  ])('not the request for %s', (path) => {
    for (const mode of ['cors', 'same-origin', 'no-cors'] as const) expect(handle(path, mode)).toBe('network');
  });

  test('hashed files, but only with GET and from this origin', () => {
    expect(handle('/assets/app-1.js', 'cors')).toBe('asset');
    expect(handle('/assets/app-1.js', 'cors', 'HEAD')).toBe('network');
    expect(handle('https://other.example/assets/app-1.js', 'cors')).toBe('network');
    expect(handle('https://other.example/journal')).toBe('network');
  });

  test('shared text, but no form that is posted', () => {
    expect(handle('/share?text=abc')).toBe('share');
    expect(handle('/share', 'navigate', 'POST')).toBe('network');
    expect(handle('/journal', 'navigate', 'POST')).toBe('network');
  });
});

test('the landing page has a document of its own', () => {
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

describe('a response is stored as an asset', () => {
  const script = 'text/javascript; charset=utf-8';

  test.each([
    ['/assets/app-1.js', script],
    ['/assets/app-1.css', 'text/css; charset=utf-8'],
    ['/assets/sans-1.woff2', 'font/woff2'],
  ])('%s', (path, type) => expect(isStorableAsset(path, answer(type))).toBe(true));

  test.each([
    ['of another type', answer('text/html')],
    ['that a redirect led to', answer(script, { redirected: true })],
    ['that is an error', answer(script, { ok: false })],
    ['that is opaque', answer(script, { type: 'opaque' })],
    ['without a type', { ...answer(script), headers: new Headers() }],
  ])('not one %s', (_what, response) => expect(isStorableAsset('/assets/app-1.js', response)).toBe(false));

  test('not one of an unknown kind', () => {
    expect(isStorableAsset('/assets/data.json', answer('application/json'))).toBe(false);
  });
});

describe('a response is stored as a page', () => {
  const files = new Set(['/assets/app-1.js', '/assets/app-1.css', '/assets/boot-1.js']);
  const html = '<script src="/assets/boot-1.js"></script><link href="/assets/app-1.css"><img src="/assets/a.svg">';
  const isStored = (text: string, response = answer('text/html; charset=utf-8')) =>
    isStorableShell(response, text, files);

  test('with the files of this version', () => expect(isStored(html)).toBe(true));

  test('not with a file of another version, or without files', () => {
    expect(isStored(html.replace('boot-1', 'boot-2'))).toBe(false);
    expect(isStored('<h1>Sign in to the hotel</h1>')).toBe(false);
  });

  test('not after a redirect, as an error or of another type', () => {
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
