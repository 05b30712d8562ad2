/** Turns the pages that need no React at run time into plain markup when they are built. */
import { basename } from 'node:path';
import { renderToStaticMarkup } from 'react-dom/server';
import { createElement } from 'react';
import type { ComponentType } from 'react';
import { createServer } from 'vite';
import type { Plugin, ViteDevServer } from 'vite';

type Page = { module: string; component: string };

/** React writes no comments, so a page marks a slot with an element, and the server's comment takes its place. */
const SLOT_ELEMENT = /<hf-slot name="(\w+)"><\/hf-slot>/g;
/** In the same way what only some servers show stands between two comments. */
const PART_START = /<hf-when name="(\w+)">/g;
const PART_END = /<\/hf-when>/g;

/** The markup of a page, with the comments that the server reads. */
export const markupOf = (page: ComponentType): string =>
  renderToStaticMarkup(createElement(page))
    .replaceAll(SLOT_ELEMENT, '<!--slot:$1-->')
    .replaceAll(PART_START, '<!--when:$1-->')
    .replaceAll(PART_END, '<!--/when-->');

/** `pages` is keyed by the name of the HTML file whose `<!--page-->` the markup replaces. */
export function prerender(pages: Record<string, Page>): Plugin {
  let development: ViteDevServer | undefined;
  let root = '';
  let css: object | undefined;

  async function render(page: Page): Promise<string> {
    // A build has no module server of its own: a silent one is opened for as long as one page takes.
    const server =
      development ??
      (await createServer({
        root,
        configFile: false,
        appType: 'custom',
        logLevel: 'error',
        server: { middlewareMode: true, hmr: false, ws: false, watch: null },
        optimizeDeps: { noDiscovery: true },
        ...(css ? { css } : {}),
      }));
    try {
      const module = await server.ssrLoadModule(page.module);
      const component = module[page.component] as ComponentType | undefined;
      if (!component) throw new Error(`${page.module} exports no ${page.component}`);
      return markupOf(component);
    } finally {
      if (server !== development) await server.close();
    }
  }

  return {
    name: 'prerender',
    configResolved(config) {
      root = config.root;
      css = { modules: config.css.modules };
    },
    configureServer(server) {
      development = server;
    },
    transformIndexHtml: {
      order: 'pre',
      async handler(html, { filename }) {
        const page = pages[basename(filename, '.html')];
        return page ? html.replace('<!--page-->', await render(page)) : html;
      },
    },
  };
}
