/**
 * Compiles the server in a child process before the first start and after each change of its sources. Otherwise the
 * long-running server process would load the TypeScript stripper and keep its 25 MB.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fingerprint } from './fingerprint.mjs';
import { SERVER_NODE_FLAGS } from './node-flags.mjs';

const SOURCES = ['src/domain', 'src/server', 'scripts', 'package-lock.json'];

/** `cache` is the folder for NODE_COMPILE_CACHE. Best effort: the cache only affects speed and memory. */
export async function warmCompileCache(root, node, cache) {
  const stampFile = join(cache, 'sources');
  const version = node === process.execPath ? process.version : '';
  const stamp = `${fingerprint(root, SOURCES)} ${node} ${version}\n`;
  try {
    if (readFileSync(stampFile, 'utf8') === stamp) return;
  } catch {
    // No stamp yet: first run.
  }
  const scripts = join(root, 'scripts');
  const compiler = spawn(
    node,
    [...SERVER_NODE_FLAGS, join(scripts, 'build', 'compile-server.ts'), join(scripts, 'start.ts')],
    { env: { ...process.env, NODE_COMPILE_CACHE: cache }, stdio: 'ignore' },
  );
  const compiled = await new Promise((resolve) => {
    compiler.on('error', () => resolve(false));
    compiler.on('exit', (code) => resolve(code === 0));
  });
  if (!compiled) return;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(stampFile, stamp);
  } catch {
    // The folder is read-only, so there is no cache to stamp.
  }
}
