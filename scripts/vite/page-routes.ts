/** Maps paths to HTML files in the development server, as the production server does. */
import type { Plugin } from 'vite';
import { ROUTES } from '../../src/domain/routes.ts';

const STATIC_PAGES: Record<string, string> = {
  [ROUTES.landing.path]: '/landing.html',
  [ROUTES.terms.path]: '/terms.html',
  [ROUTES.privacy.path]: '/privacy.html',
};
const PATHS: readonly string[] = Object.values(ROUTES).map((route) => route.path);

export function pageRoutes(): Plugin {
  return {
    name: 'page-routes',
    apply: 'serve',
    configureServer(server) {
      server.middlewares.use((request, _response, next) => {
        const [path = '/', query] = (request.url ?? '/').split('?', 2);
        if (PATHS.includes(path)) {
          request.url = (STATIC_PAGES[path] ?? '/app.html') + (query === undefined ? '' : `?${query}`);
        }
        next();
      });
    },
  };
}
