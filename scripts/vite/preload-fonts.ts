/** Preloads the fonts of the first view, so that the browser fetches them in parallel with the style sheet. */
import { basename } from 'node:path';
import type { Plugin } from 'vite';

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
