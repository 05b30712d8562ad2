/**
 * Divides the client's code into chunks, and lists by route the files that its page needs (`.vite/routes.json`, for the
 * server). Both follow from the code: the router and the boot script name the lazy imports of a route in a property
 * with the name of the route or of its access, and an `import()` outside of a function loads with its module.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync, Visitor, type Plugin, type Rolldown } from 'vite';
import { ROUTES, type RouteName } from '../../src/domain/routes.ts';

/** The bundler passes this to the function that names a module's chunk. */
type Bundle = {
  getModuleInfo: (id: string) => { importedIds: readonly string[]; dynamicallyImportedIds: readonly string[] } | null;
};
type Modules = ReadonlySet<string>;

const AUTH_JS = /\/@supabase\/auth-js\//;
/** `properties`: the names of the properties that contain the import. */
type LazyImport = { specifier: string; properties: readonly string[]; isAtLoad: boolean };

type Entries = { app: string; landing: string; bootScript: string; router: string };
/** All paths are below the root of the build. */
type RouteFiles = Partial<Record<RouteName, { early: string[]; scripts: string[]; styles: string[] }>>;

export function routeChunks(root: string, entries: Entries) {
  const idOf = (module: string): string => join(root, module);
  const bootScript = idOf(entries.bootScript);
  const router = idOf(entries.router);
  const lazyImports = new Map<string, (LazyImport & { id: string })[]>();
  let routes: ReturnType<typeof readRoutes> | null = null;

  const readModule = async (context: Rolldown.PluginContext, code: string, id: string): Promise<void> => {
    const found = findLazyImports(id, code).map(async (lazy) => ({
      ...lazy,
      id: (await context.resolve(lazy.specifier, id))!.id,
    }));
    lazyImports.set(id, await Promise.all(found));
  };
  /** These modules and all that they import, without what is imported lazily. */
  const closureOf = (bundle: Bundle, ids: readonly string[]): Modules => {
    const found = new Set<string>();
    const pending = [...ids];
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      pending.push(...(bundle.getModuleInfo(id)?.importedIds ?? []));
    }
    return found;
  };

  /** These modules and those that they, or what they import, import lazily while they load. */
  const loadedWith = (bundle: Bundle, ids: readonly string[]): string[] => {
    const loaded = new Set(ids);
    // The loop also visits what it adds.
    for (const id of loaded)
      for (const importer of closureOf(bundle, [id]))
        for (const lazy of lazyImports.get(importer) ?? []) if (lazy.isAtLoad) loaded.add(lazy.id);
    return [...loaded];
  };

  /** The module that loads auth-js after a screen: imported lazily, for what it imports. */
  const loadsAuth = (id: string, bundle: Bundle): boolean =>
    bundle.getModuleInfo(id)?.importedIds.some((imported) => AUTH_JS.test(imported)) === true &&
    [...lazyImports.values()].some((lazy) => lazy.some((module) => module.id === id));

  function readRoutes(bundle: Bundle) {
    const page = idOf(entries.app);
    const start = closureOf(bundle, [page]);
    const importsOf = (module: string, ...names: string[]): string[] =>
      (lazyImports.get(module) ?? [])
        .filter(({ properties }) => properties.some((name) => names.includes(name)))
        .map(({ id }) => id);
    const app = loadedWith(
      bundle,
      [...start].flatMap((id) => importsOf(id, 'app')),
    );
    const screens = new Map<RouteName, { early: string[]; modules: string[]; closure: Modules }>();
    for (const name of Object.keys(ROUTES) as RouteName[]) {
      const view = importsOf(router, name);
      if (view.length === 0) continue;
      const early = importsOf(bootScript, name);
      const modules = loadedWith(bundle, [...early, ...importsOf(router, ROUTES[name].access), ...view]);
      screens.set(name, { early, modules, closure: closureOf(bundle, modules) });
    }
    return {
      app,
      screens,
      start,
      landing: closureOf(bundle, [idOf(entries.landing)]),
      appClosure: closureOf(bundle, app),
      earlyClosure: closureOf(
        bundle,
        [...screens.values()].flatMap(({ early }) => early),
      ),
    };
  }

  /**
   * Names a module's chunk; null for a module of one screen only, or of none before a click. The modules that several
   * screens share go into a few chunks, by the screens that load them: as files of their own, a first visit would make
   * fifty requests. The early editor must not load React, and the journal must not load the forms of other screens.
   */
  const chunkName = (id: string, bundle: Bundle): string | null => {
    routes ??= readRoutes(bundle);
    const { start, landing, screens, appClosure, earlyClosure } = routes;
    // Most screens load auth-js, 20 KB, once they are shown. So their chunks have nothing that imports it.
    if (AUTH_JS.test(id) || loadsAuth(id, bundle)) return 'auth';
    const isInJournal = screens.get('journal')!.closure.has(id);
    const countOf = (access: string): number =>
      [...screens].filter(
        ([name, { closure }]) => ROUTES[name].access === access && name !== 'journal' && closure.has(id),
      ).length;
    const guests = countOf('guests');
    const members = countOf('protected');
    const isOfApp = guests + members > 0 || appClosure.has(id) || isInJournal;
    if (start.has(id) || landing.has(id)) return isOfApp ? 'base' : null;
    if (earlyClosure.has(id)) return guests + members > 0 || appClosure.has(id) ? 'early' : 'editor';
    if (appClosure.has(id)) return 'shell';
    if (isInJournal) return guests > 0 ? 'shell' : members > 0 ? 'members' : 'journal';
    // One style sheet for the chunks below: with the boot script, a page's first paint then waits for about six files,
    // the connections of HTTP/1.1.
    if (id.endsWith('.css') && guests + members > 1) return 'styles';
    const needsAuth = [...closureOf(bundle, [id])].some((needed) => AUTH_JS.test(needed));
    if (guests > 1) return members > 0 && !needsAuth ? 'forms' : 'guests';
    return members > 1 && !needsAuth ? 'sheets' : null;
  };

  const plugin: Plugin = {
    name: 'route-chunks',
    apply: 'build',
    enforce: 'pre',
    async buildStart() {
      // The boot script is built apart from the app.
      await readModule(this, await readFile(bootScript, 'utf8'), bootScript);
    },
    transform: {
      filter: { id: { include: `${root}/**` }, code: 'import(' },
      handler(code, id) {
        return readModule(this, code, id);
      },
    },
    generateBundle: {
      // After Vite has added the style sheets to the chunks.
      order: 'post',
      handler(_options, bundle) {
        const { screens, app, appClosure } = routes ?? readRoutes(this);
        const files: RouteFiles = {};
        for (const [name, { early, modules, closure }] of screens) {
          // A module that is imported lazily and is there anyway has a small file of its own.
          const present = [...appClosure, ...closure].flatMap(
            (id) => this.getModuleInfo(id)?.dynamicallyImportedIds ?? [],
          );
          const again = present.filter((id) => appClosure.has(id) || closure.has(id));
          files[name] = { early: filesOf(early, bundle).scripts, ...filesOf([...modules, ...app, ...again], bundle) };
        }
        this.emitFile({ type: 'asset', fileName: '.vite/routes.json', source: JSON.stringify(files) });
      },
    },
  };
  return { plugin, chunkName };
}

function findLazyImports(id: string, code: string): LazyImport[] {
  const found: LazyImport[] = [];
  const properties: string[] = [];
  let functions = 0;
  const enter = (): void => void (functions += 1);
  const leave = (): void => void (functions -= 1);
  new Visitor({
    Property({ key }) {
      properties.push(key.type === 'Identifier' ? key.name : '');
    },
    'Property:exit'() {
      properties.pop();
    },
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    ImportExpression({ source }) {
      if (source.type !== 'Literal' || typeof source.value !== 'string')
        throw new Error(`${id} imports an unknown module`);
      found.push({ specifier: source.value, properties: [...properties], isAtLoad: functions === 0 });
    },
  }).visit(parseSync(id, code).program);
  return found;
}

/** The chunks of the modules with all that they import. */
function filesOf(modules: readonly string[], bundle: Rolldown.OutputBundle): { scripts: string[]; styles: string[] } {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (fileName: string): void => {
    const chunk = bundle[fileName];
    if (chunk?.type !== 'chunk' || scripts.has(fileName)) return;
    scripts.add(fileName);
    for (const style of chunk.viteMetadata?.importedCss ?? []) styles.add(style);
    for (const imported of chunk.imports) visit(imported);
  };
  for (const id of modules)
    for (const file of Object.values(bundle))
      if (file.type === 'chunk' && file.moduleIds.includes(id)) visit(file.fileName);
  return { scripts: [...scripts], styles: [...styles] };
}
