/** Tests for import cycles with a dynamic import, which the lint rule `import/no-cycle` does not see. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const known = new Set(files);
const sources = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

function importsOf(file: string, pattern: RegExp): string[] {
  return [...sources.get(file)!.matchAll(pattern)]
    .map(([, path]) =>
      path!.startsWith('#') ? path!.replace('#', 'src/') : relative(ROOT, resolve(ROOT, dirname(file), path!)),
    )
    .filter((path) => known.has(path));
}

test('no file imports itself through a dynamic import', () => {
  const dynamic = new Map(files.map((file) => [file, importsOf(file, /\bimport\(\s*'([.#][^']+)'/g)]));
  const all = new Map(
    files.map((file) => [file, [...importsOf(file, /\bfrom '([.#][^']+)'/g), ...dynamic.get(file)!]]),
  );
  const cycles: string[] = [];
  for (const [file, starts] of dynamic) {
    for (const start of starts) {
      const reached = new Set([start]);
      for (const next of reached) for (const path of all.get(next)!) reached.add(path);
      if (reached.has(file)) cycles.push(`${file} imports ${start}, which leads back to it`);
    }
  }
  expect(cycles).toEqual([]);
});
