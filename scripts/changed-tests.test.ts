import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { READERS_BY_PATH, SPECS_BY_PATH, selectTests } from './changed-tests.ts';
import { ROOT } from './project.ts';

test('the map names paths and specs that exist', () => {
  const specs = globSync('tests/e2e/**/*.spec.ts', { cwd: ROOT });
  for (const [path, targets] of SPECS_BY_PATH) {
    expect(globSync(`${path}*`, { cwd: ROOT }).length > 0 || existsSync(join(ROOT, path)), path).toBe(true);
    for (const target of targets)
      expect(
        specs.some((spec) => spec.startsWith(target)),
        target,
      ).toBe(true);
  }
});

test('the map names every feature of the client', () => {
  const mapped = SPECS_BY_PATH.map(([path]) => path);
  for (const folder of globSync('src/client/features/*/', { cwd: ROOT })) expect(mapped).toContain(join(folder, '/'));
});

test('a change of any file that end-to-end tests import selects specs', () => {
  const imported = new Set<string>();
  const visit = (file: string): void => {
    if (imported.has(file)) return;
    imported.add(file);
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from |import\()'(\.[^']+\.(?:ts|mjs))'/g))
      visit(join(dirname(file), path!));
  };
  [...globSync('tests/e2e/**/*.ts', { cwd: ROOT }), 'playwright.config.ts'].forEach(visit);
  expect(imported).toContain('scripts/start.ts');
  expect([...imported].filter((file) => selectTests([file]).specs.length === 0)).toEqual([]);
});

test.each([
  ['a feature', ['src/client/features/legal/privacy.tsx'], ['tests/e2e/legal.spec.ts']],
  ['a spec', ['tests/e2e/journal/days.spec.ts'], ['tests/e2e/journal/days.spec.ts']],
  ['a spec and its topic', ['tests/e2e/coach/x.spec.ts', 'src/server/coach/coach.ts'], ['tests/e2e/coach/']],
  ['shared client code', ['src/client/ui/dialog.tsx'], ['tests/e2e']],
  ['shared server code', ['src/server/legal.ts', 'src/server/http/listen.ts'], ['tests/e2e']],
  ['the fixtures', ['tests/e2e/support/test.ts'], ['tests/e2e']],
  ['a migration', ['database/migrations/app/0001.sql'], ['tests/e2e']],
  ['the sandbox', ['scripts/sandbox/start-sandbox.ts'], ['tests/e2e']],
  ['a unit test', ['src/client/ui/dialog.test.tsx'], []],
  ['a document', ['docs/security.md'], []],
])('a change of %s selects its specs', (_, changed, specs) => {
  expect(selectTests(changed).specs).toEqual(specs);
});

test('Vitest gets the changed files, and the tests that read every file', () => {
  const { vitest } = selectTests(['src/domain/day/day.ts']);
  expect(vitest).toContain('src/domain/day/day.ts');
  expect(vitest).toEqual(expect.arrayContaining(globSync('tests/fences/*.test.ts', { cwd: ROOT })));
  expect(vitest).toContain('src/server/coach/model/ai-sdk.test.ts');
  for (const file of vitest) expect(existsSync(join(ROOT, file)), file).toBe(true);
});

test.each([
  ['docs/api/openapi.yaml', 'tests/api/openapi.test.ts'],
  ['.oxlintrc.json', 'tests/fences/fences.test.ts'],
  ['.env.example', 'src/server/config/config.test.ts'],
  ['compose.yaml', 'tests/fences/deploy.test.ts'],
  ['deploy/prometheus/alerts.yaml', 'tests/fences/deploy.test.ts'],
  ['deploy/grafana/hustle-forge.json', 'tests/api/metrics.test.ts'],
])('a change of %s selects %s, which reads it', (file, reader) => {
  expect(selectTests([file]).vitest).toContain(reader);
});

test('the map names readers and files that exist', () => {
  for (const path of READERS_BY_PATH.flat(2)) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

test.each(['database/schema.sql', 'package-lock.json', 'tests/support/test-database.ts'])(
  'a change of %s runs all of Vitest',
  (file) => {
    expect(selectTests([file]).vitest).toBe('all');
  },
);
