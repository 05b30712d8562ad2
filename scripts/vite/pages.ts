/** The HTML pages: static markup of those that need no React at run time, their styles and fonts, and their paths. */
import { basename } from 'node:path';
import { renderToStaticMarkup } from 'react-dom/server';
import { createElement, type ComponentType } from 'react';
import { routePath, ROUTES } from '../../src/domain/routes.ts';
import { renderConditionals } from '../../src/server/http/pages.ts';
import { createServer, type Plugin, type ViteDevServer } from 'vite';

type Page = { module: string; component: string };

/** React cannot render comments, so a page marks a slot with this element. `renderMarkup` turns it into a comment. */
const SLOT_ELEMENT = /<hf-slot name="(\w+)"><\/hf-slot>/g;
/** `<hf-when>` encloses markup that only some servers show. `renderMarkup` turns its two tags into comments. */
const WHEN_START = /<hf-when name="(\w+)">/g;
const WHEN_END = /<\/hf-when>/g;

/** The development server has no settings and serves one page for all routes. */
const DEVELOPMENT_SECTIONS: ReadonlySet<string> = new Set(['coach', 'signups', 'journal']);

/** Returns the markup of a page with the comments that the server replaces (server/http/pages.ts). */
export const renderMarkup = (page: ComponentType): string =>
  renderToStaticMarkup(createElement(page))
    .replaceAll(SLOT_ELEMENT, '<!--slot:$1-->')
    .replaceAll(WHEN_START, '<!--when:$1-->')
    .replaceAll(WHEN_END, '<!--/when-->');

/**
 * Renders the pages that need no React at run time to static markup at build time. `pages` is keyed by the name of the
 * HTML file whose `<!--page-->` the markup replaces.
 */
export function prerender(pages: Record<string, Page>): Plugin {
  let development: ViteDevServer | undefined;
  let root = '';
  let css: object | undefined;

  async function render(page: Page): Promise<string> {
    // A build has no module server, so each page gets a temporary one.
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
      const markup = renderMarkup(component);
      return development ? renderConditionals(markup, DEVELOPMENT_SECTIONS) : markup;
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

/**
 * Marks CSS modules as having side effects. Vite otherwise drops a `*.module.css` whose class names are unused, and the
 * scripts of prerendered pages import style sheets whose class names are used only at build time.
 */
export function cssSideEffects(): Plugin {
  return {
    name: 'css-side-effects',
    apply: 'build',
    enforce: 'post',
    transform: {
      filter: { id: /\.module\.css$/ },
      handler: (code) => ({ code, map: null, moduleSideEffects: 'no-treeshake' as const }),
    },
  };
}

/** `pages`: font names by HTML file. A page that waits for its script lists fewer, because fonts delay the script. */
export function preloadFonts(pages: Record<string, readonly string[]>): Plugin {
  return {
    name: 'preload-fonts',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, filename }) {
        const files = Object.keys(bundle ?? {}).filter((file) => file.endsWith('.woff2'));
        return (pages[basename(filename, '.html')] ?? []).map((name) => {
          const file = files.find((candidate) => candidate.includes(name));
          if (!file) throw new Error(`no font file for ${name}`);
          return {
            tag: 'link',
            attrs: { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: true },
            injectTo: 'head-prepend' as const,
          };
        });
      },
    },
  };
}

const STATIC_PAGES: Record<string, string> = {
  [ROUTES.landing.path]: '/landing.html',
  [ROUTES.terms.path]: '/terms.html',
  [ROUTES.privacy.path]: '/privacy.html',
};
const PATHS: readonly string[] = Object.values(ROUTES).map((route) => route.path);

/** Maps paths to HTML files in the development server, as the production server does. */
export function pageRoutes(): Plugin {
  return {
    name: 'page-routes',
    apply: 'serve',
    configureServer(server) {
      server.middlewares.use((request, _response, next) => {
        const [path = '/', query] = (request.url ?? '/').split('?', 2);
        if (PATHS.includes(routePath(path))) {
          request.url = (STATIC_PAGES[path] ?? '/app.html') + (query === undefined ? '' : `?${query}`);
        }
        next();
      });
    },
  };
}
