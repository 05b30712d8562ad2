/**
 * Marks CSS modules as having side effects. Vite otherwise drops a `*.module.css` whose class names are unused, and the
 * scripts of prerendered pages import style sheets whose class names are used only at build time.
 */
import type { Plugin } from 'vite';

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
