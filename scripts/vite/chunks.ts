/**
 * Puts the modules that several screens share into a few chunks, by the screens that load them. Without these chunks each
 * shared module becomes a file of its own, and a first visit makes fifty requests.
 */
import { join } from 'node:path';
import { ROUTES, type RouteName } from '../../src/domain/routes.ts';
import { APP_MODULE, LAZY_MODULES } from '../../src/server/site/preloads.ts';

/** The bundler passes this to the function that names a module's chunk. */
type Bundle = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };
type Modules = ReadonlySet<string>;

const CLIENT = join(import.meta.dirname, '..', '..', 'src', 'client');
const START_MODULE = 'app/start.ts';
const EARLY_EDITOR = 'features/journal/early/early-editor.ts';

const idOf = (module: string): string => join(CLIENT, module);

/** These modules and all that they import, without what is imported lazily. */
function closureOf(modules: readonly string[], bundle: Bundle): Modules {
  const found = new Set<string>();
  const pending = modules.map(idOf);
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    pending.push(...(bundle.getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
}

function readClosures(bundle: Bundle) {
  const ofAccess = (access: string): Modules[] =>
    (Object.keys(ROUTES) as RouteName[])
      .filter((name) => ROUTES[name].access === access && name !== 'journal' && LAZY_MODULES[name])
      .map((name) => closureOf(LAZY_MODULES[name]!, bundle));
  return {
    landing: closureOf(['landing.html'], bundle),
    start: closureOf([START_MODULE], bundle),
    app: closureOf([APP_MODULE], bundle),
    early: closureOf([EARLY_EDITOR], bundle),
    journal: closureOf(LAZY_MODULES.journal!, bundle),
    guests: ofAccess('guests'),
    members: ofAccess('protected'),
  };
}

/** Modules that run code when they are loaded, so that no other chunk may contain them. */
const ENTRIES: Modules = new Set([START_MODULE, APP_MODULE, ...Object.values(LAZY_MODULES).flat()].map(idOf));

/**
 * Returns a function that names a module's chunk; null for a module of one screen only, or of none before a click. The
 * early editor must not load React, and the journal must not load the forms of other screens.
 */
export function sharedChunks(): (id: string, bundle: Bundle) => string | null {
  let closures: ReturnType<typeof readClosures> | null = null;
  return (id, bundle) => {
    if (ENTRIES.has(id)) return null;
    closures ??= readClosures(bundle);
    const { landing, start, app, early, journal } = closures;
    const guests = closures.guests.filter((screen) => screen.has(id)).length;
    const members = closures.members.filter((screen) => screen.has(id)).length;
    const isOfApp = guests + members > 0 || app.has(id) || journal.has(id);
    if (start.has(id) || landing.has(id)) return isOfApp ? 'base' : null;
    if (app.has(id)) return 'shell';
    if (early.has(id)) return guests + members > 0 ? 'early' : 'editor';
    if (journal.has(id)) return guests > 0 ? 'shell' : members > 0 ? 'members' : 'journal';
    if (guests > 1) return members > 0 ? 'forms' : 'guests';
    return members > 1 ? 'sheets' : null;
  };
}
