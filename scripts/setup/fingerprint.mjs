// Plain JavaScript for Node 18 and newer, because it runs before the dependencies are installed.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * Hashes the names and contents of files and folders, excluding tests, to detect stale build output.
 * @param {string} root
 * @param {readonly string[]} sources paths below the root
 * @returns {Promise<string>}
 */
export async function fingerprint(root, sources) {
  const files = (await Promise.all(sources.map((source) => listFiles(join(root, source))))).flat();
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const hash = createHash('sha256');
  for (const [index, file] of files.entries()) hash.update(`${relative(root, file)}\0`).update(contents[index]);
  return hash.digest('hex');
}

/** Returns the file itself, or all files in the folder except tests, in a fixed order. */
async function listFiles(path) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
