/** The routes of the app and their guards. The landing and legal pages are separate HTML documents. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import type { RouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { ChunkLoadError, lazyChunk } from '#client/ui/lazy-chunk.ts';
import { ErrorScreen } from './error-screen.tsx';
import { RedirectToLanding } from './guards.tsx';
import { LoadingScreen } from './loading-screen.tsx';
import { ChunkErrorScreen } from './chunk-error-screen.tsx';
import { RootScreen } from './root-screen.tsx';

/** A lazily loaded screen. `preload` is what use-navigation-guard.ts waits for before it lets a navigation through. */
function screen(importView: () => Promise<ComponentType>): RouteComponent {
  const { load, View } = lazyChunk(importView);
  const component: RouteComponent = View;
  component.preload = async () => {
    await load();
    // The chunk has loaded, so later navigations need not wait for it.
    delete component.preload;
  };
  return component;
}

const root = createRootRoute({ component: RootScreen, notFoundComponent: RedirectToLanding });

const guests = createRoute({
  getParentRoute: () => root,
  id: 'guests',
  component: screen(async () => (await import('./guest-guard.tsx')).GuestGuard),
});
const login = createRoute({
  getParentRoute: () => guests,
  path: ROUTES.login.path,
  component: screen(async () => (await import('#client/features/account/login-screen.tsx')).LoginScreen),
});
const signup = createRoute({
  getParentRoute: () => guests,
  path: ROUTES.signup.path,
  component: screen(async () => (await import('#client/features/account/signup-screen.tsx')).SignupScreen),
});
const forgotPassword = createRoute({
  getParentRoute: () => guests,
  path: ROUTES.forgotPassword.path,
  component: screen(
    async () => (await import('#client/features/account/password/forgot-password-screen.tsx')).ForgotPasswordScreen,
  ),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: ROUTES.resetPassword.path,
  component: screen(
    async () => (await import('#client/features/account/password/reset-password-screen.tsx')).ResetPasswordScreen,
  ),
});

const members = createRoute({
  getParentRoute: () => root,
  id: 'members',
  component: screen(async () => (await import('./layout/members-layout.tsx')).MembersLayout),
});
const journal = createRoute({
  getParentRoute: () => members,
  path: ROUTES.journal.path,
  component: screen(async () => (await import('./routes/journal-route.tsx')).JournalRoute),
});
const reviews = createRoute({
  getParentRoute: () => members,
  path: ROUTES.reviews.path,
  component: screen(async () => (await import('./routes/reviews-route.tsx')).ReviewsRoute),
});
const settings = createRoute({
  getParentRoute: () => members,
  path: ROUTES.settings.path,
  component: screen(async () => (await import('./routes/settings-route.tsx')).SettingsRoute),
});
const profile = createRoute({
  getParentRoute: () => members,
  path: ROUTES.profile.path,
  component: screen(async () => (await import('./routes/profile-route.tsx')).ProfileRoute),
});
const receipt = createRoute({
  getParentRoute: () => members,
  path: ROUTES.receipt.path,
  component: screen(async () => (await import('#client/features/billing/receipt-screen.tsx')).ReceiptScreen),
});

const routeTree = root.addChildren([
  guests.addChildren([login, signup, forgotPassword]),
  resetPassword,
  members.addChildren([journal, reviews, settings, profile, receipt]),
]);

export function createAppRouter() {
  return createRouter({
    routeTree,
    defaultPendingComponent: LoadingScreen,
    defaultErrorComponent: ({ error }) => (error instanceof ChunkLoadError ? <ChunkErrorScreen /> : <ErrorScreen />),
    // Search parameters stay strings: the router's default JSON parsing turns an order id such as 5E6… into a number.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(search as Record<string, string>).toString();
      return text === '' ? '' : `?${text}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
