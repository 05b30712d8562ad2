/** Builds the program `hustle` (src/cli) into one file, which the server offers for download. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'vite';
import { ROOT } from '../project.ts';

/** Below the build folder. CommonJS, because Node takes it for that under any name, such as `hustle` without an ending. */
const FILE = join('cli', 'hustle.cjs');

/** @param entry below the repository's root */
export function commandLine(entry: string): Plugin {
  return {
    name: 'command-line',
    apply: 'build',
    async writeBundle({ dir }) {
      const path = join(dir!, FILE);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await compileProgram(entry), { mode: 0o755 });
    },
  };
}

async function compileProgram(entry: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    define: { VERSION: JSON.stringify(version) },
    // The program needs Node and nothing else.
    ssr: { noExternal: true },
    build: {
      write: false,
      ssr: entry,
      target: 'node20',
      minify: true,
      rolldownOptions: { output: { format: 'cjs', codeSplitting: false, banner: '#!/usr/bin/env node' } },
    },
  });
  const bundle = Array.isArray(result) ? result[0] : result;
  if (!bundle || !('output' in bundle)) throw new Error(`${entry} was not built`);
  return bundle.output[0].code;
}
