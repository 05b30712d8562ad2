/** Precompresses built files with brotli at maximum quality, so that the server does not compress per request. */
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'vite';

const compress = promisify(brotliCompress);
const COMPRESSIBLE = '**/*.{js,css,html,svg,json,webmanifest,txt}';

export function brotliAtBuild(): Plugin {
  let folder = '';
  return {
    name: 'brotli-at-build',
    apply: 'build',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    async closeBundle(error?: Error) {
      if (error) return;
      for await (const file of glob(COMPRESSIBLE, { cwd: folder })) {
        const path = join(folder, file);
        const content = await readFile(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        await writeFile(`${path}.br`, await compress(content, { params }));
      }
    },
  };
}
