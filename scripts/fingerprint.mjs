/**
 * Says whether sources have changed since something was made of them.
 * Plain JavaScript for any Node from 18 on, because it runs before anything is installed.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * A hash over the names and contents of these files and folders, tests left out.
 * @param {string} root
 * @param {readonly string[]} sources paths below the root
 * @returns {Promise<string>}
 */
export async function fingerprint(root, sources) {
  const files = (await Promise.all(sources.map((source) => filesBelow(join(root, source))))).flat();
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const hash = createHash('sha256');
  for (const [index, file] of files.entries()) hash.update(`${relative(root, file)}\0`).update(contents[index]);
  return hash.digest('hex');
}

/** The file itself, or everything in the folder except tests, in a fixed order. */
async function filesBelow(path) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
