/** Tests the size of the folders, and the order of the folders in `src/client/lib` that import one another. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_FILES = 15;
const MAX_TEST_FILES = 25;
/** Append-only lists: one file a migration or decision, so they grow with time and are never split by topic. */
const APPEND_ONLY = ['database/migrations/app', 'docs/decisions'];
/** Each of these folders of `src/client/lib` imports only itself and the folders before it in this list. */
const LIB_ORDER = ['session', 'hooks', 'log-html', 'boot', 'api', 'plan', 'coach'];

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

test('no folder holds more files than a reader can scan', () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  counts.delete('.');
  const tooLarge = [...counts].filter(
    ([folder, count]) =>
      !APPEND_ONLY.includes(folder) && count > (folder.startsWith('tests/') ? MAX_TEST_FILES : MAX_FILES),
  );
  expect(tooLarge).toEqual([]);
});

test('the folders of lib import only those before them', () => {
  const lib = join(ROOT, 'src', 'client', 'lib');
  const violations: string[] = [];
  for (const file of files.filter((path) => path.startsWith('src/client/lib/') && !path.includes('.test.'))) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const from = LIB_ORDER.indexOf(relative(lib, dirname(join(ROOT, file))));
    for (const [, path] of source.matchAll(/from '(\.[^']+)'/g)) {
      const to = LIB_ORDER.indexOf(relative(lib, dirname(resolve(ROOT, dirname(file), path!))));
      if (from === -1 || to === -1 || to > from) violations.push(`${file} imports ${path}`);
    }
  }
  expect(violations).toEqual([]);
});
