/**
 * Builds the script that runs before the first paint (theme, font, "already signed in").
 *
 * It must block rendering, so it cannot be a module, and the content security policy forbids inline scripts. It is
 * emitted as a small classic script with a content hash in its name, which allows immutable caching.
 */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';
import { compileScript } from './compile-script.ts';

const PLACEHOLDER = '<!--boot-script-->';

/** `modules` maps an HTML file to the module that its boot script imports, from the URL in `data-early-editor`. */
export function bootScript(entry: string, modules: Record<string, string>): Plugin {
  let root = '';
  let development = false;
  let fileName = 'boot.js';

  const compile = (): Promise<string> => compileScript(root, entry);

  return {
    name: 'boot-script',
    configResolved(config) {
      root = config.root;
      development = config.command === 'serve';
    },
    configureServer(server) {
      server.middlewares.use('/boot.js', (_request, response, next) => {
        compile().then((code) => {
          response.setHeader('content-type', 'text/javascript');
          response.end(code);
        }, next);
      });
    },
    async buildStart() {
      if (development) return;
      const code = await compile();
      fileName = `assets/boot-${createHash('sha256').update(code).digest('base64url').slice(0, 8)}.js`;
      this.emitFile({ type: 'asset', fileName, source: code });
      for (const module of Object.values(modules))
        this.emitFile({ type: 'chunk', id: join(root, module), preserveSignature: 'strict' });
    },
    transformIndexHtml(html, { filename, bundle }) {
      const module = modules[basename(filename, '.html')];
      const chunk = Object.values(bundle ?? {}).find(
        (file) => file.type === 'chunk' && module !== undefined && file.facadeModuleId === join(root, module),
      );
      const data = module === undefined ? '' : ` data-early-editor="/${chunk?.fileName ?? module}"`;
      return html.replace(PLACEHOLDER, `<script src="/${fileName}"${data}></script>`);
    },
  };
}
