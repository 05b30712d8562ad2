import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { warmCompileCache } from './warm-compile-cache.mjs';
import { SERVER_NODE_FLAGS } from './node-flags.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
/** The first test loads the whole server three times. */
const TIMEOUT_MS = 120_000;

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'hustle-forge-compile-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test(
  'a server with a warm cache starts without the TypeScript stripper',
  async () => {
    const cache = join(folder, 'cache');
    const loadsStripper = (): boolean => {
      const modules = ['scripts/start.ts', 'src/server/main.ts', 'src/server/coach/model/ai-sdk.ts'].map((path) =>
        join(ROOT, path),
      );
      const script = `for (const path of ${JSON.stringify(modules)}) await import(path);
      console.log(process.moduleLoadList.some((name) => name.includes('amaro')));`;
      const { stdout } = spawnSync(process.execPath, [...SERVER_NODE_FLAGS, '--input-type=module', '-e', script], {
        encoding: 'utf8',
        env: { ...process.env, NODE_COMPILE_CACHE: cache },
      });
      return JSON.parse(stdout) as boolean;
    };
    await warmCompileCache(ROOT, process.execPath, cache);
    expect(loadsStripper()).toBe(false);
    rmSync(cache, { recursive: true });
    expect(loadsStripper()).toBe(true);
  },
  TIMEOUT_MS,
);

describe('in a scratch project', () => {
  const compile = () => warmCompileCache(folder, process.execPath, join(folder, 'cache'));
  const compiled = (): number =>
    existsSync(join(folder, 'compiled')) ? readFileSync(join(folder, 'compiled')).length : 0;

  beforeEach(() => {
    for (const path of ['src/domain', 'src/server', 'scripts/build'])
      mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, 'package-lock.json'), '{}');
    writeFileSync(join(folder, 'src', 'server', 'main.ts'), '');
    writeFileSync(
      join(folder, 'scripts', 'build', 'compile-server.ts'),
      `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(join(folder, 'compiled'))}, '.');`,
    );
  });

  test('compiles once, and again after the sources have changed', async () => {
    await compile();
    await compile();
    expect(compiled()).toBe(1);
    writeFileSync(join(folder, 'src', 'server', 'main.ts'), 'export {};');
    await compile();
    expect(compiled()).toBe(2);
  });

  test('ignores a failed compilation and retries at the next start', async () => {
    writeFileSync(join(folder, 'scripts', 'build', 'compile-server.ts'), 'process.exit(1);');
    await compile();
    expect(existsSync(join(folder, 'cache', 'sources'))).toBe(false);
    await warmCompileCache(folder, join(folder, 'no-such-node'), join(folder, 'cache'));
    expect(existsSync(join(folder, 'cache', 'sources'))).toBe(false);
  });

  test('ignores a cache folder that cannot be created', async () => {
    await warmCompileCache(folder, process.execPath, join(folder, 'package-lock.json', 'cache'));
    expect(compiled()).toBe(1);
  });
});
