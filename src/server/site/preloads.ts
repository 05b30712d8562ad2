/** Which built chunks a route needs beyond those its page names, so that the browser fetches all of them at once. */
import type { RouteName } from '#domain/routes.ts';

type Chunk = { file: string; src?: string; imports?: string[]; dynamicImports?: string[]; css?: string[] };
/** `.vite/manifest.json` as Vite writes it: source file -> chunk. */
export type BuildManifest = Record<string, Chunk>;

/** The modules that a route loads lazily, by their path below the client's folder. */
const LAZY_MODULES: Partial<Record<RouteName, readonly string[]>> = {
  login: ['features/account/login-screen.tsx'],
  signup: ['features/account/signup-screen.tsx'],
  journal: ['features/journal/journal-screen.tsx', 'editor/editor.ts'],
};

/** A `Link` header's value; empty when nothing is known about the route. */
export function preloadsFor(route: RouteName, manifest: BuildManifest): string {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (key: string): void => {
    const chunk = manifest[key];
    if (!chunk || scripts.has(chunk.file)) return;
    scripts.add(chunk.file);
    for (const style of chunk.css ?? []) styles.add(style);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  for (const module of LAZY_MODULES[route] ?? []) {
    for (const key of Object.keys(manifest)) if (key === module || key.endsWith(`/${module}`)) visit(key);
  }
  return [
    ...[...scripts].map((file) => `</${file}>; rel=modulepreload`),
    ...[...styles].map((file) => `</${file}>; rel=preload; as=style`),
  ].join(', ');
}
