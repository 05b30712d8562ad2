/** The answer to a request that is refused before any route sees it. */
import type { IncomingMessage } from 'node:http';

const MESSAGE = 'The server is busy. Please try again in a moment';
/** In seconds. Random between these, so that clients do not return together. */
const RETRY_AFTER = { min: 1, max: 3 };

const API = /^\/(?:auth|rest|functions)\/v1\//;

/** A page that loads itself again. It needs no script and no style. */
const page = (seconds: number): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="${seconds}">` +
  '<title>Hustle Forge is busy</title></head><body><h1>Hustle Forge is busy</h1>' +
  '<p>The server has too much to do right now. This page tries again in a few seconds.</p></body></html>';

/** One format serves every client: auth-js and postgrest-js read `code` and `message`, the functions `error`. */
const body = JSON.stringify({
  code: 'busy',
  message: MESSAGE,
  details: null,
  hint: null,
  success: false,
  error: MESSAGE,
});

export function refusal({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): Response {
  const seconds = RETRY_AFTER.min + Math.floor(Math.random() * (RETRY_AFTER.max - RETRY_AFTER.min + 1));
  const isPage = !API.test(url ?? '') && (headers.accept ?? '').includes('text/html');
  return new Response(isPage ? page(seconds) : body, {
    status: 503,
    headers: {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': String(seconds),
    },
  });
}
