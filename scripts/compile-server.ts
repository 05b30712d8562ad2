/**
 * Loads whatever the server may load, and the modules that are named after it, and ends: Node keeps what it compiled in
 * NODE_COMPILE_CACHE. A process that finds all of it there starts sooner and never holds the TypeScript stripper (25 MB).
 */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCES = join(import.meta.dirname, '..', 'src');

const modules = process.argv.slice(2).map((path) => resolve(path));
for (const folder of ['domain', 'server']) {
  const paths = await readdir(join(SOURCES, folder), { recursive: true });
  modules.push(...paths.filter((path) => /(?<!\.test)\.ts$/.test(path)).map((path) => join(SOURCES, folder, path)));
}
await Promise.all(modules.map((path) => import(pathToFileURL(path).href)));
