/** Serves built files with content negotiation and conditional requests. */
import type { Context } from 'hono';
import type { AppEnv } from '../http/app-env.ts';
import type { BuiltFile, BuiltFiles } from './built-files.ts';

/** Vite puts a content hash into these names, so they are immutable. */
const HASHED_FOLDER = '/assets/';
const CACHE_IMMUTABLE = 'public, max-age=31536000, immutable';
const CACHE_REVALIDATE = 'no-cache';

/** The file for a path, or null when the build has none (pages are answered by `pages.ts`). */
export function staticFile(files: BuiltFiles, context: Context<AppEnv>): Response | null {
  const { path } = context.req;
  const file = path.endsWith('.html') ? undefined : files.get(path);
  if (!file) return null;
  context.header('Cache-Control', path.startsWith(HASHED_FOLDER) ? CACHE_IMMUTABLE : CACHE_REVALIDATE);
  return respondWithFile(file, context);
}

/** Responds to GET and HEAD with `ETag` and `Content-Encoding`; the caller has set `Cache-Control`. */
export function respondWithFile(file: BuiltFile, context: Context<AppEnv>): Response {
  context.header('ETag', file.etag);
  if (file.brotli) context.header('Vary', 'Accept-Encoding', { append: true });
  if (context.req.header('if-none-match')?.includes(file.etag)) return context.body(null, 304);
  context.header('Content-Type', file.type);
  if (!file.brotli || !acceptsBrotli(context.req.header('accept-encoding'))) return context.body(file.body);
  context.header('Content-Encoding', 'br');
  return context.body(file.brotli);
}

const acceptsBrotli = (accepted: string | undefined): boolean =>
  accepted?.split(',').some((coding) => /^\s*br\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(coding)) ?? false;
