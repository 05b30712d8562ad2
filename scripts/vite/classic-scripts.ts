/** Builds the scripts that are no modules: the boot script of every page and the service worker. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'vite';

const PLACEHOLDER = '<!--boot-script-->';

/**
 * Builds the script that runs before the first paint (theme, font, "already signed in").
 *
 * It must block rendering, so it cannot be a module, and the content security policy forbids inline scripts. It is
 * emitted as a small classic script with a content hash in its name, which allows immutable caching. The modules that
 * it imports lazily are chunks of the app.
 */
export function bootScript(entry: string): Plugin {
  let root = '';
  let development = false;
  let fileName = 'boot.js';
  let script: Awaited<ReturnType<typeof compileScript>>;

  const compile = async (): Promise<void> => void (script = await compileScript(root, entry));
  const linkModules = (fileOf: (module: string) => string): string =>
    script.lazyModules.reduce(
      (code, module) => code.replaceAll(lazyImportUrl(module), `/${fileOf(module)}`),
      script.code,
    );

  return {
    name: 'boot-script',
    configResolved(config) {
      root = config.root;
      development = config.command === 'serve';
    },
    configureServer(server) {
      server.middlewares.use('/boot.js', (_request, response, next) => {
        compile().then(() => {
          response.setHeader('content-type', 'text/javascript');
          response.end(linkModules((module) => module));
        }, next);
      });
    },
    async buildStart() {
      if (development) return;
      await compile();
      for (const module of script.lazyModules)
        this.emitFile({ type: 'chunk', id: join(root, module), preserveSignature: 'allow-extension' });
    },
    generateBundle: {
      // Before Vite writes the pages, which name this file.
      order: 'pre',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const source = linkModules(
          (module) => chunks.find((chunk) => chunk.moduleIds.includes(join(root, module)))!.fileName,
        );
        fileName = `assets/boot-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.js`;
        this.emitFile({ type: 'asset', fileName, source });
      },
    },
    transformIndexHtml: (html) => html.replace(PLACEHOLDER, () => `<script src="/${fileName}"></script>`),
  };
}

type WorkerOptions = {
  /** Entries of the two workers, below the root. */
  worker: string;
  removingWorker: string;
  /** Names of the fonts to store before their first use. */
  fonts: readonly string[];
};

/** Builds the service worker with the list of hashed files that it stores, and the worker that uninstalls it. */
export function serviceWorker({ worker, removingWorker, fonts }: WorkerOptions): Plugin {
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

type CompiledScript = {
  /** Each `import()` is of `lazyImportUrl(module)`, which the caller replaces by the URL of the module's file. */
  code: string;
  /** The modules that the script imports lazily, by their path below `root`. */
  lazyModules: string[];
};

const lazyImportUrl = (module: string): string => `lazy:${module}`;

/** Compiles a client entry with all its imports into one classic script. */
async function compileScript(
  root: string,
  entry: string,
  define: Record<string, string> = {},
): Promise<CompiledScript> {
  const lazyModules = new Set<string>();
  const keepLazyImports: Plugin = {
    name: 'keep-lazy-imports',
    enforce: 'pre',
    async resolveId(source, importer, { kind }) {
      if (kind !== 'dynamic-import') return null;
      const { id } = (await this.resolve(source, importer))!;
      const module = relative(root, id);
      lazyModules.add(module);
      return { id: lazyImportUrl(module), external: true };
    },
  };
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    define,
    plugins: [keepLazyImports],
    build: { write: false, lib: { entry: join(root, entry), formats: ['iife'], name: 'script' }, target: 'es2023' },
  });
  const bundle = Array.isArray(result) ? result[0] : result;
  if (!bundle || !('output' in bundle)) throw new Error(`${entry} was not built`);
  return { code: bundle.output[0].code, lazyModules: [...lazyModules] };
}
