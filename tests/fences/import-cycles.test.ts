/**
 * Tests for imports that the lint rules do not see: cycles with a dynamic import, circles of folders, and files that
 * Node cannot load.
 */
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

/**
 * The folders that each folder below `parent` imports, also for types alone. A file of `parent` itself stands for
 * itself.
 */
function folderImports(parent: string): Map<string, Set<string>> {
  const folderOf = (path: string): string => path.slice(parent.length + 1).split('/')[0]!;
  const imports = new Map<string, Set<string>>();
  for (const file of files.filter((path) => path.startsWith(`${parent}/`) && !path.includes('.test.'))) {
    const from = folderOf(file);
    const targets = imports.get(from) ?? new Set();
    imports.set(from, targets);
    for (const path of importsOf(file, /(?:\bfrom |\bimport\(\s*)'([.#][^']+)'/g)) {
      if (path.startsWith(`${parent}/`) && folderOf(path) !== from) targets.add(folderOf(path));
    }
  }
  return imports;
}

/** The folders that lead back to themselves. */
function foldersInCircles(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...imports.keys()].filter((start) => {
    const reached = new Set(imports.get(start));
    for (const next of reached) for (const folder of imports.get(next) ?? []) reached.add(folder);
    return reached.has(start);
  });
}

test('the folders of auth import one another in one direction', () => {
  const imports = folderImports('src/server/auth');
  expect(imports.size).toBeGreaterThan(10);
  expect(foldersInCircles(imports)).toEqual([]);
});

test.each([
  ['server', 20],
  ['domain', 10],
  ['client', 6],
])('the folders of the %s import one another in one direction', (parent, least) => {
  const imports = folderImports(`src/${parent}`);
  expect(imports.size).toBeGreaterThan(least);
  expect(foldersInCircles(imports)).toEqual([]);
});

test('a sign-in with a password reads in five folders of auth', () => {
  const read = new Set(['src/server/auth/password/sign-in.ts']);
  for (const file of read) {
    for (const path of importsOf(file, /\bfrom '([.#][^']+)'/g))
      if (path.startsWith('src/server/auth/')) read.add(path);
  }
  const folders = new Set([...read].map((path) => path.split('/')[3]));
  expect([...folders].toSorted()).toEqual(['accounts', 'http', 'keys', 'password', 'sessions']);
});

test('a circle of folders is found', () => {
  const imports = { codes: ['http'], http: ['keys'], keys: ['codes'], saml: ['http'] };
  const graph = new Map(Object.entries(imports).map(([from, to]) => [from, new Set(to)]));
  expect(foldersInCircles(graph)).toEqual(['codes', 'http', 'keys']);
});

test('no script that Node runs imports a file with JSX', () => {
  const scripts = readFileSync(join(ROOT, 'scripts', 'run.mjs'), 'utf8').matchAll(/'([\w/-]+\.ts)'/g);
  const loaded = new Set([...scripts].map(([, script]) => script!));
  expect(loaded.size).toBeGreaterThan(15);
  const found: string[] = [];
  for (const file of loaded) {
    for (const path of importsOf(file, /^(?:import|export)(?! type\b)[^;]*? from '([.#][^']+)'/gm)) {
      if (path.endsWith('.tsx')) found.push(`${file} imports ${path}`);
      else loaded.add(path);
    }
  }
  expect(found).toEqual([]);
});
