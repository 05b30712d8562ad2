/**
 * The built client, held in memory (about 2 MB), and the answers to its requests: content negotiation and conditional
 * requests. Threat: path traversal. Requests only look up keys of this map and never access the file system.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { Context } from 'hono';
import type { AppEnv } from '../http/app-env.ts';

const compress = promisify(brotliCompress);

export type BuiltFile = {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The Brotli variant from the build; null for already compressed formats (fonts, images). */
  readonly brotli: Uint8Array<ArrayBuffer> | null;
  readonly etag: string;
};

/** Keys are URL paths, `/assets/journal-1a2b3c.js`. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

const TYPES: Record<string, string> = {
  '.cjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** A weak ETag, because compressed and plain variants share it. */
export const etagOf = (body: Uint8Array | string): string =>
  `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

/** Reads the build output of the types in `TYPES` (no source maps), without hidden folders. Empty without a build. */
export async function readBuiltFiles(folder: string): Promise<BuiltFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = names
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')));
  const present = new Set(paths);
  const files = new Map<string, BuiltFile>();
  await Promise.all(
    paths.map(async (path) => {
      const type = TYPES[extname(path)];
      if (type === undefined) return;
      const body = await readFile(join(folder, path));
      const brotli = present.has(`${path}.br`) ? await readFile(join(folder, `${path}.br`)) : null;
      files.set(`/${path}`, { type, body, brotli, etag: etagOf(body) });
    }),
  );
  return files;
}

/** Compresses a text that is only known when the server starts. */
export async function compressFile(text: string, type: string): Promise<BuiltFile> {
  const body = Buffer.from(text);
  return { type, body, brotli: Buffer.from(await compress(body)), etag: etagOf(body) };
}

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
