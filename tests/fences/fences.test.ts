/**
 * Tests the import rules of .oxlintrc.json with examples in a scratch project, and the order of the folders of lib. The
 * rules fail open: a pattern that matches no import reports no violation, so a broken rule would go unnoticed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const IMPORTS = 'no-restricted-imports';

/** File, line of code, the rule that must report it. */
const BAD: readonly (readonly [string, string, string])[] = [
  ['src/domain/imports-server.ts', `import '#server/clock.ts';`, IMPORTS],
  ['src/domain/imports-server-relatively.ts', `import '../server/database/connect.ts';`, IMPORTS],
  ['src/domain/imports-client.ts', `import '#client/lib/session/session.ts';`, IMPORTS],
  ['src/domain/imports-node.ts', `import 'node:fs';`, IMPORTS],
  ['src/domain/imports-package.ts', `import 'zod';`, IMPORTS],
  ['src/server/imports-client.ts', `import '#client/features/journal/journal-screen.tsx';`, IMPORTS],
  ['src/server/data/imports-client-relatively.ts', `import '../../client/lib/session.ts';`, IMPORTS],
  ['src/server/imports-simulators.ts', `import '../../simulators/mailbox.ts';`, IMPORTS],
  ['src/server/auth/imports-tests.ts', `import '../../../tests/support/start-server.ts';`, IMPORTS],
  ['src/cli/imports-server.ts', `import '#server/clock.ts';`, IMPORTS],
  ['src/cli/imports-client-relatively.ts', `import '../client/lib/session/session.ts';`, IMPORTS],
  ['src/client/main-imports-server.ts', `import '#server/config/config.ts';`, IMPORTS],
  ['src/client/app/imports-server.ts', `import '#server/config/config.ts';`, IMPORTS],
  ['src/client/app/imports-simulators.ts', `import '../../../simulators/mailbox.ts';`, IMPORTS],
  ['src/client/lib/imports-feature.ts', `import '#client/features/journal/journal-screen.tsx';`, IMPORTS],
  ['src/client/lib/imports-node.ts', `import 'node:fs';`, IMPORTS],
  ['src/client/ui/imports-app.ts', `import '../app/router.tsx';`, IMPORTS],
  ['src/client/editor/imports-feature.ts', `import '../features/calendar/month-calendar.tsx';`, IMPORTS],
  ['src/client/features/journal/imports-other-feature.ts', `import '../calendar/month-calendar.tsx';`, IMPORTS],
  ['src/client/features/journal/imports-other-feature-by-name.ts', `import '#client/features/calendar/a.ts';`, IMPORTS],
  ['src/client/features/journal/imports-app.ts', `import '../../app/router.tsx';`, IMPORTS],
  ['src/client/features/journal/imports-server.ts', `import '#server/clock.ts';`, IMPORTS],
  ['src/client/features/journal/imports-relatively.ts', `import '../../lib/session/session.ts';`, IMPORTS],
  ['src/client/features/journal/day/imports-other-feature.ts', `import '../../calendar/month-calendar.tsx';`, IMPORTS],
  ['src/client/features/journal/day/imports-app.ts', `import '#client/app/router.tsx';`, IMPORTS],
  ['src/client/lib/imports-ui.ts', `import '#client/ui/toast.tsx';`, IMPORTS],
  ['src/client/lib/session/imports-sync.ts', `import '#client/sync/day-drafts.ts';`, IMPORTS],
  ['src/client/ui/imports-editor.ts', `import '../editor/paste/paste.ts';`, IMPORTS],
  ['src/client/editor/paste/imports-sync.ts', `import '#client/sync/day-drafts.ts';`, IMPORTS],
  ['src/client/sync/imports-ui.ts', `import '#client/ui/toast.tsx';`, IMPORTS],
  ['src/client/sync/entries/imports-feature.ts', `import '#client/features/journal/journal-screen.tsx';`, IMPORTS],
  ['src/server/reads-environment.ts', `export const port = process.env['PORT'];`, 'no-process-env'],
  ['src/client/lib/logs.ts', `export const tell = (): void => console.log('here');`, 'no-console'],
  ['src/server/logs.ts', `export const tell = (): void => console.log('here');`, 'no-console'],
  [
    'src/server/forgets-to-wait.ts',
    `const save = async (): Promise<void> => {};\nexport function forget(): void {\n  save();\n}`,
    'no-floating-promises',
  ],
  [
    'src/server/tests-a-promise.ts',
    `const ask = async (): Promise<boolean> => false;\nexport const wrong = (): number => {\n  if (ask()) return 1;\n  return 0;\n};`,
    'no-misused-promises',
  ],
  ['src/server/default-export.ts', `export default 1;`, 'no-default-export'],
  // A cycle of types, by a relative path in one direction and by `package.json` in the other.
  ['src/server/cycle-a.ts', `import type { B } from './cycle-b.ts';\nexport type A = B[];`, 'no-cycle'],
  ['src/server/cycle-b.ts', `import type { A } from '#server/cycle-a.ts';\nexport type B = A | null;`, 'no-cycle'],
];

const GOOD: Readonly<Record<string, string>> = {
  'src/domain/imports-domain.ts': `import './day.ts';`,
  'src/server/imports-domain.ts': `import '#domain/day/day.ts';\nimport 'pg';\nimport 'node:fs';\nimport './log.ts';`,
  'src/cli/imports-domain.ts': `import '#domain/day/day.ts';\nimport 'node:fs';\nimport './queue.ts';`,
  'src/client/features/journal/imports-below.ts': `import '#domain/day/day.ts';\nimport '#client/ui/button.tsx';\nimport '#client/sync/day-drafts.ts';\nimport './day-bar.tsx';`,
  'src/client/features/journal/day/imports-feature.ts': `import '../journal-screen.tsx';\nimport './day-bar.tsx';`,
  'src/client/sync/imports-lib.ts': `import '#client/lib/session/session.ts';`,
  'src/client/app/imports-features.ts': `import '#client/features/journal/journal-screen.tsx';`,
  'tests/imports-anything.ts': `import '#server/clock.ts';\nimport '../simulators/mailbox.ts';\nconsole.log(process.env);`,
};

let scratch = '';
const violations = new Map<string, string[]>();

beforeAll(() => {
  // The scratch project lies outside the repository, because the linter skips the repository's ignored folders.
  scratch = mkdtempSync(join(realpathSync(tmpdir()), 'hustle-forge-fences-'));
  copyFileSync(join(ROOT, '.oxlintrc.json'), join(scratch, '.oxlintrc.json'));
  copyFileSync(join(ROOT, 'tsconfig.base.json'), join(scratch, 'tsconfig.base.json'));
  copyFileSync(join(ROOT, 'package.json'), join(scratch, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'), 'dir');
  const tsconfig = { extends: './tsconfig.base.json', compilerOptions: { types: ['node'] }, include: ['src', 'tests'] };
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(tsconfig));
  for (const [path, code] of [...BAD, ...Object.entries(GOOD)]) {
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    writeFileSync(join(scratch, path), `${code}\n`);
  }
  const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const run = spawnSync(process.execPath, [oxlint, '--type-aware', '--format=json', 'src', 'tests'], {
    cwd: scratch,
    encoding: 'utf8',
  });
  const { diagnostics } = JSON.parse(run.stdout) as { diagnostics: { code: string; filename: string }[] };
  for (const { code, filename } of diagnostics) violations.set(filename, [...(violations.get(filename) ?? []), code]);
}, 60_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test.each(BAD)('reports %s', (path, _code, rule) => {
  expect(violations.get(path) ?? []).toEqual([expect.stringContaining(`(${rule})`)]);
});

test.each(Object.keys(GOOD))('accepts %s', (path) => {
  expect(violations.get(path)).toBeUndefined();
});

describe('the compiler settings of the domain', () => {
  test.each([
    ['the browser', 'export const title = document.title;'],
    ['Node', 'export const port = process.version;'],
  ])('exclude the globals of %s', (_what, code) => {
    const folder = join(scratch, 'pure');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'impure.ts'), code);
    const tsconfig = { extends: join(ROOT, 'src', 'domain', 'tsconfig.json'), include: [folder] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    expect(() => execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'pipe' })).toThrow();
  });
});

/** Each of these folders of `src/client/lib` imports only itself and the folders before it in this list. */
const LIB_ORDER = ['session', 'hooks', 'html-to-log', 'boot', 'api', 'plan'];

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

test('the folders of lib import only those before them', () => {
  const lib = join(ROOT, 'src', 'client', 'lib');
  const backward: string[] = [];
  for (const file of files.filter((path) => path.startsWith('src/client/lib/') && !path.includes('.test.'))) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const from = LIB_ORDER.indexOf(relative(lib, dirname(join(ROOT, file))));
    for (const [, path] of source.matchAll(/from '(\.[^']+)'/g)) {
      const to = LIB_ORDER.indexOf(relative(lib, dirname(resolve(ROOT, dirname(file), path!))));
      if (from === -1 || to === -1 || to > from) backward.push(`${file} imports ${path}`);
    }
  }
  expect(backward).toEqual([]);
});

// JSON.parse takes the last of two keys with one name, so a merge can leave the other unseen.
test('package.json has each key once', () => {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const withoutSpace = (json: string): string => json.replaceAll(/\s/g, '');
  expect(withoutSpace(text)).toBe(withoutSpace(JSON.stringify(JSON.parse(text))));
});
