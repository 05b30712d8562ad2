/**
 * Has the server compiled before its first start and after every change of its sources, so that the process that runs for
 * months is not the one that compiles: it would keep the TypeScript stripper (25 MB) for as long as it lives.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fingerprint } from './fingerprint.mjs';
import { SERVER_NODE_FLAGS } from './node-flags.mjs';

const SOURCES = ['src/domain', 'src/server', 'scripts', 'package-lock.json'];

/** `cache` is the folder for NODE_COMPILE_CACHE. Nothing depends on it but speed and memory, so that no failure is told. */
export async function compileWhenNeeded(root, node, cache) {
  const stampFile = join(cache, 'sources');
  const version = node === process.execPath ? process.version : '';
  const stamp = `${await fingerprint(root, SOURCES)} ${node} ${version}\n`;
  try {
    if (readFileSync(stampFile, 'utf8') === stamp) return;
  } catch {
    // The first time.
  }
  const scripts = join(root, 'scripts');
  const compiler = spawn(node, [...SERVER_NODE_FLAGS, join(scripts, 'compile-server.ts'), join(scripts, 'start.ts')], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: 'ignore',
  });
  const compiled = await new Promise((ended) => {
    compiler.on('error', () => ended(false));
    compiler.on('exit', (code) => ended(code === 0));
  });
  if (!compiled) return;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(stampFile, stamp);
  } catch {
    // A folder that cannot be written to has no compiled sources either.
  }
}
