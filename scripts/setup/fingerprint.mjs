// Plain JavaScript for Node 18 and newer, because it runs before the dependencies are installed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Hashes the names and contents of files and folders, excluding tests, to detect stale build output.
 * @param {string} root
 * @param {readonly string[]} sources paths below the root
 * @returns {string}
 */
export function fingerprint(root, sources) {
  const hash = createHash('sha256');
  // Synchronous: reading a thousand small files through the thread pool takes twice as long.
  for (const file of sources.flatMap((source) => listFiles(join(root, source))))
    hash.update(`${relative(root, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** Returns the file itself, or all files in the folder except tests, in a fixed order. */
function listFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
