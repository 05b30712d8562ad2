/** Compiles a client entry with all its imports into one classic script. */
import { join, relative } from 'node:path';
import { build, type Plugin } from 'vite';

type CompiledScript = {
  /** Each `import()` is of `lazyImportUrl(module)`, which the caller replaces by the URL of the module's file. */
  code: string;
  /** The modules that the script imports lazily, by their path below `root`. */
  lazyModules: string[];
};

export const lazyImportUrl = (module: string): string => `lazy:${module}`;

export async function compileScript(
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
