/**
 * Builds the script that runs before the first paint (theme, font, "already signed in").
 *
 * It must block rendering, so it cannot be a module, and the content security policy forbids inline scripts. It is
 * emitted as a small classic script with a content hash in its name, which allows immutable caching. The modules that it
 * imports lazily are chunks of the app.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { compileScript, lazyImportUrl } from './compile-script.ts';

const PLACEHOLDER = '<!--boot-script-->';

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
        this.emitFile({ type: 'chunk', id: join(root, module), preserveSignature: 'strict' });
    },
    generateBundle: {
      // Before Vite writes the pages, which name this file.
      order: 'pre',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const source = linkModules(
          (module) => chunks.find((chunk) => chunk.facadeModuleId === join(root, module))!.fileName,
        );
        fileName = `assets/boot-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.js`;
        this.emitFile({ type: 'asset', fileName, source });
      },
    },
    transformIndexHtml: (html) => html.replace(PLACEHOLDER, () => `<script src="/${fileName}"></script>`),
  };
}
