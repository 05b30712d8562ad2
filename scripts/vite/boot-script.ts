/**
 * Builds the script that runs before the first paint (theme, font, "already signed in").
 *
 * It must block rendering, so it cannot be a module, and the content security policy forbids inline scripts. It is
 * emitted as a small classic script with a content hash in its name, which allows immutable caching.
 */
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { compileScript } from './compile-script.ts';

const PLACEHOLDER = '<!--boot-script-->';

export function bootScript(entry: string): Plugin {
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
    },
    transformIndexHtml: (html) => html.replace(PLACEHOLDER, `<script src="/${fileName}"></script>`),
  };
}
