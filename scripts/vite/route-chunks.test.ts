/** Tests that the build finds the code of each route, however its modules are named, with a client of a few lines. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build } from 'vite';
import { routeChunks } from './route-chunks.ts';

const CLIENT = {
  'app.html': '<script type="module" src="./start.ts"></script>',
  'landing.html': '<script type="module" src="./landing.ts"></script>',
  'landing.ts': `import './a-part.ts'; console.log('landing');`,
  'start.ts': `const code = { app: () => import('./a-main.ts') }; code.app(); setTimeout(() => import('./after-a-click.ts'));`,
  'a-main.ts': `import './a-router.ts'; console.log('main');`,
  'a-router.ts': `
    const load = (view: () => Promise<object>) => view;
    const layouts = { guests: load(async () => (await import('./a-guard.ts')).guard), public: null };
    const views = { login: load(() => import('./any-name.ts')), journal: () => import('./a-journal.ts') };
    Object.assign(globalThis, { layouts, views });`,
  'a-boot-script.ts': `const early = { journal: () => import('./an-early-part.ts') }; Object.assign(globalThis, early);`,
  'an-early-part.ts': `console.log('early');`,
  'a-guard.ts': `export const guard = {};`,
  'any-name.ts': `import './a-part.ts'; export const login = () => import('./after-a-click.ts');`,
  'a-part.ts': `import './a-part.css'; console.log('part');`,
  'a-part.css': `a { color: red }`,
  'a-journal.ts': `const editor = import('./an-editor.ts'); export const find = () => [editor, import('./after-a-click.ts')];`,
  'an-editor.ts': `import('./of-the-editor.ts'); console.log('editor');`,
  'of-the-editor.ts': `console.log('of the editor');`,
  'after-a-click.ts': `console.log('after a click');`,
};

let routes: Record<string, { early: string[]; scripts: string[]; styles: string[] }>;
let output: { fileName: string; source?: unknown; moduleIds?: string[] }[];
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hustle-forge-routes-'));
  for (const [name, text] of Object.entries(CLIENT)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const { plugin, chunkName } = routeChunks(root, {
    app: 'app.html',
    landing: 'landing.html',
    bootScript: 'a-boot-script.ts',
    router: 'a-router.ts',
  });
  const emitsBootChunk = {
    name: 'boot',
    buildStart(this: { emitFile: (file: { type: 'chunk'; id: string }) => void }) {
      this.emitFile({ type: 'chunk', id: join(root, 'an-early-part.ts') });
    },
  };
  const result = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: [plugin, emitsBootChunk],
    build: {
      write: false,
      modulePreload: { polyfill: false },
      target: 'es2023',
      rolldownOptions: {
        input: [join(root, 'app.html'), join(root, 'landing.html')],
        output: {
          codeSplitting: { groups: [{ name: chunkName, includeDependenciesRecursively: false }] },
          ...{ chunkFileNames: '[name].js', assetFileNames: '[name][extname]' },
        },
      },
    },
  });
  ({ output } = result as { output: typeof output });
  routes = JSON.parse(String(output.find(({ fileName }) => fileName === '.vite/routes.json')!.source));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The modules in the scripts of a route. */
const modulesOf = (route: string, kind: 'scripts' | 'early' = 'scripts'): string[] =>
  output
    .filter(({ fileName }) => routes[route]![kind].includes(fileName))
    .flatMap(({ moduleIds = [] }) => moduleIds.filter((id) => id.startsWith(root)).map((id) => basename(id)))
    .filter((name) => !name.endsWith('.css'))
    .sort();

test('lists the scripts of a route: those of its layout, its view and what both import', () => {
  expect(modulesOf('login')).toEqual(['a-guard.ts', 'a-main.ts', 'a-part.ts', 'a-router.ts', 'any-name.ts']);
});

test('lists what the boot script imports for a route, and what its modules import as they load', () => {
  const found = ['a-journal.ts', 'a-main.ts', 'a-router.ts', 'an-early-part.ts', 'an-editor.ts', 'of-the-editor.ts'];
  // Every screen loads the chunk of the modules that the app shares with the landing page.
  expect(modulesOf('journal').filter((name) => name !== 'a-part.ts')).toEqual(found);
});

test('lists the scripts that open a route before React', () => {
  expect(modulesOf('journal', 'early')).toEqual(['an-early-part.ts']);
  expect(modulesOf('login', 'early')).toEqual([]);
});

test('links the style sheets that the code of a route imports', () => {
  expect(routes['login']!.styles).toHaveLength(1);
  expect(routes['journal']!.styles).not.toContain('a-part.css');
});

test('lists no route that is a page of its own', () => {
  expect(Object.keys(routes).sort()).toEqual(['journal', 'login']);
});
