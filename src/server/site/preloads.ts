/** The lazily loaded chunks of each route, preloaded to avoid a request waterfall. */
import type { RouteName } from '#domain/routes.ts';

type Chunk = { file: string; src?: string; imports?: string[]; dynamicImports?: string[]; css?: string[] };
/** `.vite/manifest.json` as Vite writes it: source file -> chunk. */
export type BuildManifest = Record<string, Chunk>;

/**
 * The modules that each route imports lazily when it is opened (in `early-page.ts`, `router.tsx`, `use-profile.ts` and
 * `use-editor.ts`), by their path below `src/client`.
 */
export const LAZY_MODULES: Partial<Record<RouteName, readonly string[]>> = {
  login: ['app/guest-guard.tsx', 'features/account/login-screen.tsx'],
  signup: ['app/guest-guard.tsx', 'features/account/signup-screen.tsx'],
  forgotPassword: ['app/guest-guard.tsx', 'features/account/password/forgot-password-screen.tsx'],
  resetPassword: ['features/account/password/reset-password-screen.tsx'],
  journal: [
    'features/journal/early/early-editor.ts',
    'app/layout/members-layout.tsx',
    'app/routes/journal-route.tsx',
    'lib/api/data-client.ts',
    'editor/journal-editor.tsx',
  ],
  reviews: ['app/layout/members-layout.tsx', 'app/routes/reviews-route.tsx', 'lib/api/data-client.ts'],
  settings: ['app/layout/members-layout.tsx', 'app/routes/settings-route.tsx', 'lib/api/data-client.ts'],
  profile: ['app/layout/members-layout.tsx', 'app/routes/profile-route.tsx', 'lib/api/data-client.ts'],
  receipt: ['app/layout/members-layout.tsx', 'features/billing/receipt-screen.tsx', 'lib/api/data-client.ts'],
};

/** The module that `start.ts` imports on every route. */
export const APP_MODULE = 'app/main.tsx';

/** Built files, by their path below `dist`. */
export type RouteChunks = { scripts: ReadonlySet<string>; styles: ReadonlySet<string> };

export function preloadedChunks(route: RouteName, manifest: BuildManifest): RouteChunks {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (key: string): void => {
    const chunk = manifest[key];
    if (!chunk || scripts.has(chunk.file)) return;
    scripts.add(chunk.file);
    for (const style of chunk.css ?? []) styles.add(style);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  const modules = LAZY_MODULES[route];
  for (const module of modules ? [...modules, APP_MODULE] : []) {
    for (const key of Object.keys(manifest)) if (key === module || key.endsWith(`/${module}`)) visit(key);
  }
  return { scripts, styles };
}

/** The `Link` header's value; empty when the route has no lazy chunks. */
export const preloadsFor = (route: RouteName, manifest: BuildManifest): string =>
  [...preloadedChunks(route, manifest).scripts].map((file) => `</${file}>; rel=modulepreload`).join(', ');

/** The links to the style sheets of the route's chunks. Vite would request each when its chunk is imported. */
export const stylesFor = (route: RouteName, manifest: BuildManifest): string[] =>
  [...preloadedChunks(route, manifest).styles].map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`);
