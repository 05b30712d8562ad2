/** Builds the service worker with the list of hashed files that it stores, and the worker that uninstalls it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { compileScript } from './compile-script.ts';

type Options = {
  /** Entries of the two workers, below the root. */
  worker: string;
  removingWorker: string;
  /** Names of the fonts to store before their first use. */
  fonts: readonly string[];
};

export function serviceWorker({ worker, removingWorker, fonts }: Options): Plugin {
  let root = '';
  return {
    name: 'service-worker',
    apply: 'build',
    configResolved(config) {
      root = config.root;
    },
    async writeBundle({ dir }, bundle) {
      const isStored = (file: string): boolean =>
        /^assets\/.*\.(js|css)$/.test(file) || fonts.some((font) => file.startsWith(`assets/${font}`));
      const files = Object.keys(bundle)
        .filter(isStored)
        .sort()
        .map((file) => `/${file}`);
      const { code } = await compileScript(root, worker, { BUILT_FILES: JSON.stringify(files) });
      await writeFile(join(dir!, 'service-worker.js'), code);
      const { code: removingCode } = await compileScript(root, removingWorker);
      await writeFile(join(dir!, 'service-worker-off.js'), removingCode);
    },
  };
}
