import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Plays npm: notes its arguments, makes noise, and leaves behind what npm leaves. */
const NPM = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package'); console.error('npm warn something');
mkdirSync('node_modules', { recursive: true });
process.exit(Number(process.env.NPM_ENDS_WITH || 0));
`;
const OTHER_MACHINE = { version: '1.0.0', optional: true, os: ['sunos'] };
const THIS_MACHINE = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] };

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hustle-forge-install-'));
  writeFileSync(join(root, 'npm-cli.js'), NPM);
  lock({ 'node_modules/a': { version: '1.0.0' } });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lock = (packages: object): void =>
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));

/** What somebody who installed by hand has. */
function installed(packages: object): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
}

function install(env: Record<string, string> = {}) {
  const script = `import { installWhenNeeded } from ${JSON.stringify(join(import.meta.dirname, 'install.mjs'))}; await installWhenNeeded(${JSON.stringify(root)});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], npm_execpath: join(root, 'npm-cli.js'), ...env },
  });
  const calls = existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [];
  return { status, output: stdout + stderr, calls };
}

test('a fresh clone is installed once, with one calm line', () => {
  const first = install();
  expect(first).toMatchObject({ status: 0, output: 'Installing dependencies (first run, about a minute)…\n' });
  expect(first.calls).toEqual([
    'ci --include=dev --include=optional --engine-strict=false --ignore-scripts --loglevel=error --no-audit --no-fund',
  ]);
  expect(install()).toMatchObject({ status: 0, output: '', calls: { length: 1 } });
});

test('a changed lock file is installed again', () => {
  install();
  lock({ 'node_modules/a': { version: '1.0.1' } });
  expect(install()).toMatchObject({ output: 'Updating dependencies…\n', calls: { length: 2 } });
});

test('what somebody installed by hand is taken as it is, without what is for other machines', () => {
  lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': OTHER_MACHINE });
  installed({ 'node_modules/a': { version: '1.0.0' } });
  expect(install()).toMatchObject({ status: 0, output: '', calls: [] });
});

test.each([
  ['an older version', { 'node_modules/a': { version: '0.9.0' } }],
  ['no package for this machine', { 'node_modules/a': { version: '1.0.0' } }],
])('%s by hand is not enough', (_what, packages) => {
  lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': THIS_MACHINE });
  installed(packages);
  expect(install().calls).toHaveLength(1);
});

test('a failure shows what npm said, and the next run tries again', () => {
  const failed = install({ NPM_ENDS_WITH: '7' });
  expect(failed.status).toBe(1);
  expect(failed.output).toContain('npm warn something');
  expect(failed.output).toContain('Installing the dependencies failed (npm ended with 7).');
  expect(install()).toMatchObject({ status: 0, calls: { length: 2 } });
});

test('another package manager’s path is not taken for npm’s', () => {
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
