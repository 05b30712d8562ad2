/** Names the fonts of the first view in the page's head, so that they come with the style sheet and not after it. */
import type { Plugin } from 'vite';

export function preloadFonts(names: readonly string[]): Plugin {
  return {
    name: 'preload-fonts',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const files = Object.keys(bundle ?? {}).filter((file) => file.endsWith('.woff2'));
        return names.map((name) => {
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
