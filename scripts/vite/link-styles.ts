/**
 * Links the style sheets of lazy chunks in a page, so that they arrive with the page. Vite would request each of them only
 * when its chunk is imported, and the import would wait.
 */
import { basename } from 'node:path';
import type { Plugin } from 'vite';

/** `pages`: names of chunks by HTML file. */
export function linkStyles(pages: Record<string, readonly string[]>): Plugin {
  return {
    name: 'link-styles',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, filename }) {
        const files = Object.keys(bundle ?? {});
        return (pages[basename(filename, '.html')] ?? []).map((name) => {
          const file = files.find((path) => path.startsWith(`assets/${name}-`) && path.endsWith('.css'));
          if (!file) throw new Error(`no style sheet for ${name}`);
          return {
            tag: 'link',
            attrs: { rel: 'stylesheet', crossorigin: true, href: `/${file}` },
            injectTo: 'head' as const,
          };
        });
      },
    },
  };
}
