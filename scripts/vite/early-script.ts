/**
 * Builds the one script that runs before the first paint (theme, font, "already signed in").
 *
 * It has to block, so it cannot be a module, and the content security policy forbids inline scripts: it becomes a
 * small classic script of its own, named by its content so that it is fetched once and never asked for again.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build } from 'vite';
import type { Plugin } from 'vite';

const PLACE = '<!--early-script-->';

export function earlyScript(entry: string): Plugin {
  let root = '';
  let development = false;
  let address = 'early.js';

  async function compile(): Promise<string> {
    const result = await build({
      root,
      configFile: false,
      logLevel: 'error',
      publicDir: false,
      build: { write: false, lib: { entry: join(root, entry), formats: ['iife'], name: 'early' }, target: 'es2023' },
    });
    const bundle = Array.isArray(result) ? result[0] : result;
    if (!bundle || !('output' in bundle)) throw new Error('the early script was not built');
    return bundle.output[0].code;
  }

  return {
    name: 'early-script',
    configResolved(config) {
      root = config.root;
      development = config.command === 'serve';
    },
    configureServer(server) {
      server.middlewares.use('/early.js', (_request, response, next) => {
        compile().then((code) => {
          response.setHeader('content-type', 'text/javascript');
          response.end(code);
        }, next);
      });
    },
    async buildStart() {
      if (development) return;
      const code = await compile();
      address = `assets/early-${createHash('sha256').update(code).digest('base64url').slice(0, 8)}.js`;
      this.emitFile({ type: 'asset', fileName: address, source: code });
    },
    transformIndexHtml: (html) => html.replace(PLACE, `<script src="/${address}"></script>`),
  };
}
