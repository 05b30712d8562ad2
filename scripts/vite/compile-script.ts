/** Compiles a client entry with all its imports into one classic script. */
import { join } from 'node:path';
import { build } from 'vite';

export async function compileScript(root: string, entry: string, define: Record<string, string> = {}): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    define,
    build: { write: false, lib: { entry: join(root, entry), formats: ['iife'], name: 'script' }, target: 'es2023' },
  });
  const bundle = Array.isArray(result) ? result[0] : result;
  if (!bundle || !('output' in bundle)) throw new Error(`${entry} was not built`);
  return bundle.output[0].code;
}
