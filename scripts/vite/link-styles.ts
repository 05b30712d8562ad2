/**
 * Links the style sheets of lazy chunks in a page, so that they arrive with the page. Vite would request each of them only
 * when its chunk is imported, and the import would wait.
 */
import { basename } from 'node:path';
import type { Plugin } from 'vite';

/** `when`: the section of the page (`src/server/site/page-template.ts`) that contains the links; null for every response. */
type LinkedStyles = { chunks: readonly string[]; when: string | null };

/** `pages`: the style sheets to link, by HTML file. */
export function linkStyles(pages: Record<string, readonly LinkedStyles[]>): Plugin {
  return {
    name: 'link-styles',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle, filename }) {
        const files = Object.keys(bundle ?? {});
        const linkTo = (chunk: string): string => {
          const file = files.find((path) => path.startsWith(`assets/${chunk}-`) && path.endsWith('.css'));
          if (!file) throw new Error(`no style sheet for ${chunk}`);
          return `<link rel="stylesheet" crossorigin href="/${file}">`;
        };
        const links = (pages[basename(filename, '.html')] ?? []).map(({ chunks, when }) => {
          const all = chunks.map(linkTo).join('');
          return when === null ? all : `<!--when:${when}-->${all}<!--/when-->`;
        });
        return html.replace('</head>', `${links.join('')}</head>`);
      },
    },
  };
}
