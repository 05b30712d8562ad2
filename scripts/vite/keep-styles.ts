/**
 * Keeps a style sheet that is imported for its rules alone.
 *
 * Vite counts a `*.module.css` as free of side effects and drops it where no class name is read; the scripts of the
 * prerendered pages import sheets whose names were read when the page was drawn.
 */
import type { Plugin } from 'vite';

export function keepStyles(): Plugin {
  return {
    name: 'keep-styles',
    apply: 'build',
    enforce: 'post',
    transform: {
      filter: { id: /\.module\.css$/ },
      handler: (code) => ({ code, map: null, moduleSideEffects: 'no-treeshake' as const }),
    },
  };
}
