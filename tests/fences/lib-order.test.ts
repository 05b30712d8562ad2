/** Tests the order of the folders in `src/client/lib` that import one another. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
/** Each of these folders of `src/client/lib` imports only itself and the folders before it in this list. */
const LIB_ORDER = ['session', 'hooks', 'log-html', 'html-to-log', 'boot', 'api', 'plan'];

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

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
