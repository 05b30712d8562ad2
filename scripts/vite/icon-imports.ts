/** Imports each icon from its own module. The package's index imports all icons, so that every page would load them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { ROOT } from '../project.ts';

const INDEX = join(ROOT, 'node_modules', 'lucide-react', 'dist', 'esm', 'lucide-react.mjs');
const EXPORTS = /^export \{ (.*) \} from '\.\/icons\/(.*)\.mjs'/gm;
const IMPORT = /import \{([^}]*)\} from 'lucide-react';/;

export function iconImports(): Plugin {
  /** The module of each export, such as `Trash2` and `trash`. */
  const modules = new Map<string, string>();
  return {
    name: 'icon-imports',
    apply: 'build',
    enforce: 'pre',
    async buildStart() {
      for (const [, names, module] of (await readFile(INDEX, 'utf8')).matchAll(EXPORTS))
        for (const name of names!.split(', ')) modules.set(name.replace('default as ', ''), module!);
    },
    transform: {
      filter: { code: IMPORT },
      handler: (code) =>
        code.replace(IMPORT, (_all, names: string) =>
          names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => modules.has(name))
            .map((name) => `import ${name} from 'lucide-react/icons/${modules.get(name)}';`)
            .join(' '),
        ),
    },
  };
}
