/**
 * The built client, held in memory (about 2 MB). Threat: path traversal. Requests only look up keys of this map and
 * never access the file system.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

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
