// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { ROUTES } from '#domain/routes.ts';
import type { RouteName } from '#domain/routes.ts';
import { createAppRouter } from './router.tsx';

/** Pages that are documents of their own, which the router does not serve. */
const DOCUMENTS: readonly RouteName[] = ['landing', 'terms', 'privacy'];
const GUARDS = { guests: '/guests', protected: '/members', public: '__root__' } as const;

const names = Object.keys(ROUTES) as RouteName[];

test.each(names.filter((name) => !DOCUMENTS.includes(name)))('the guard of %s matches its access', (name) => {
  const { path, access } = ROUTES[name];
  const routes: Record<string, { parentRoute: { id: string } }> = createAppRouter().routesByPath;
  expect(routes[path]?.parentRoute.id).toBe(GUARDS[access]);
});
