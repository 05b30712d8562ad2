/**
 * Every locked package carries the hash that npm compares with the downloaded archive.
 *
 * Threat: without the hash, npm installs whatever the registry answers for that name and version.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import tools from './tools/package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');

type Lock = { packages: Record<string, { version: string; integrity?: string; link?: true }> };

test('locks every package with its integrity hash', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const unverified = Object.entries(lock.packages)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
    .filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    .map(([path]) => path);
  expect(unverified).toEqual([]);
});

test('every tool is used by a test, a benchmark or a script', () => {
  const { devDependencies } = tools;
  // Types are used through their package, and oxlint runs its companion by itself.
  const names = Object.keys(devDependencies).filter((name) => !/^@types\/|^oxlint-tsgolint$/.test(name));
  const unused = names.filter(
    (name) =>
      spawnSync('git', ['grep', '-qE', `(['"]|@vitest-environment )${name}([/'"]|$)`, '--', '*.ts', '*.tsx'], {
        cwd: ROOT,
      }).status !== 0,
  );
  expect(unused).toEqual([]);
});

test('what a start runs imports no tool', () => {
  const imports = `from '(${Object.keys(tools.devDependencies).join('|')})[/']`;
  const product = [
    'src',
    'simulators',
    'scripts/build',
    'scripts/vite',
    'scripts/sandbox',
    ':(glob)scripts/*.ts',
    'vite.config.ts',
  ];
  const others = [
    ':!*.test.ts',
    ':!*.test.tsx',
    ':!scripts/test*',
    ':!scripts/browser.ts',
    ':!scripts/screenshots.ts',
    ':!scripts/changed-tests.ts',
    ':!scripts/vitest-errors.ts',
    ':!scripts/build/icons.ts',
  ];
  const { stdout } = spawnSync('git', ['grep', '-nE', imports, '--', ...product, ...others], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});
