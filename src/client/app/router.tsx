/**
 * The screens of the app and navigation between them (docs/specification/screens.md 1). The landing and legal pages are
 * separate HTML documents.
 *
 * A navigation waits until the code of the next screen has loaded. If loading fails after a click on a link or a step
 * in the history, the user stays on the screen that they may be writing on, unless a new release has removed the code.
 */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type PropsWithChildren } from 'react';
import { routePath, ROUTES, type RouteName } from '#domain/routes.ts';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { focusHeading, LocationContext, type Navigate, type PageState } from '#client/lib/navigation.ts';
import {
  isServerReachable,
  lazyChunk,
  preloadChunksWhenIdle,
  tryLoad,
  useLoadChunk,
  type LazyChunk,
} from '#client/ui/lazy-chunk.ts';
import { ChunkErrorScreen, ErrorBoundary, LoadingScreen } from './full-screen.tsx';

/** The fonts that the boot script holds back wait this long after the first screen, so that it is painted first. */
const SERIF_DELAY_MS = 200;
/**
 * A first screen that is later than this means a slow network. There the fonts wait longer, because they would take the
 * connection from what the user waits for next, such as the journal.
 */
const SLOW_START_MS = 2_000;
const SLOW_SERIF_DELAY_MS = 10_000;

type View = LazyChunk<object>;
/** The guard and the frame of several screens. */
type Layout = LazyChunk<PropsWithChildren>;

/** The layout for each kind of access in ROUTES. */
const LAYOUTS: Readonly<Record<(typeof ROUTES)[RouteName]['access'], Layout | null>> = {
  guests: lazyChunk(async () => (await import('./guest-guard.tsx')).GuestGuard),
  public: null,
  protected: lazyChunk(async () => (await import('./layout/members-layout.tsx')).MembersLayout),
};

const VIEWS: Readonly<Record<Exclude<RouteName, 'landing' | 'terms' | 'privacy'>, View>> = {
  login: lazyChunk(async () => (await import('#client/features/sign-in/login-screen.tsx')).LoginScreen),
  signup: lazyChunk(async () => (await import('#client/features/sign-in/signup-screen.tsx')).SignupScreen),
  forgotPassword: lazyChunk(
    async () => (await import('#client/features/sign-in/password/forgot-password-screen.tsx')).ForgotPasswordScreen,
  ),
  resetPassword: lazyChunk(
    async () => (await import('#client/features/sign-in/password/reset-password-screen.tsx')).ResetPasswordScreen,
  ),
  journal: lazyChunk(async () => (await import('./routes/journal-route.tsx')).JournalRoute),
  reviews: lazyChunk(async () => (await import('#client/features/coach/reviews-screen.tsx')).ReviewsScreen),
  year: lazyChunk(async () => (await import('#client/features/year/year-screen.tsx')).YearScreen),
  wins: lazyChunk(async () => (await import('#client/features/wins/wins-screen.tsx')).WinsScreen),
  settings: lazyChunk(async () => (await import('./routes/settings-route.tsx')).SettingsRoute),
  profile: lazyChunk(async () => (await import('./routes/profile-route.tsx')).ProfileRoute),
  connect: lazyChunk(async () => (await import('#client/features/account/connect-screen.tsx')).ConnectScreen),
  receipt: lazyChunk(async () => (await import('#client/features/billing/receipt-screen.tsx')).ReceiptScreen),
};

type Screen = { layout: Layout | null; view: View };

const SCREENS: ReadonlyMap<string, Screen> = new Map(
  (Object.keys(VIEWS) as (keyof typeof VIEWS)[]).map((name) => {
    const { path, access } = ROUTES[name];
    return [path, { layout: LAYOUTS[access], view: VIEWS[name] }];
  }),
);
const screenOf = (pathname: string): Screen | undefined => SCREENS.get(routePath(pathname));
const GUEST_VIEWS = [...SCREENS.values()].flatMap(({ layout, view }) => (layout === LAYOUTS.guests ? [view.load] : []));

const isLoaded = ({ layout, view }: Screen): boolean => (layout?.isLoaded() ?? true) && view.isLoaded();
const loadScreen = async ({ layout, view }: Screen): Promise<void> =>
  void (await Promise.all([layout?.load(), view.load()]));

/** Never rejects: a failure shows when the journal opens. */
const loadJournal = async (): Promise<void> => void (await tryLoad(() => loadScreen(screenOf(ROUTES.journal.path)!)));

/** `failed`: the code of the screen could not be loaded, and no other screen is left to stay on. */
type Shown = { path: string; search: string; hash: string; failed: boolean };

const currentPage = (failed = false): Shown => {
  const { pathname, search, hash } = location;
  return { path: pathname, search, hash, failed };
};

/** `position`: the number of the entry in the history of this tab, to undo a step back or forward. */
type EntryState = PageState & { position?: number };
const currentPosition = (): number => (history.state as EntryState | null)?.position ?? 0;

export function AppRouter() {
  const current = useGuardedLocation();
  const { path, search, hash, failed } = current;
  useShowTarget(path, search, hash);
  const screen = screenOf(path);
  const ready = screen && isLoaded(screen) ? screen : null;
  useFocusOnHeading(ready ? path : null);
  useLateFonts(ready !== null);
  const isGuest = ready?.layout === LAYOUTS.guests;
  useEffect(() => {
    if (!isGuest) return;
    // A visitor who types probably signs in, which opens the journal. Loaded earlier, it would delay the page itself.
    const onInput = (): void => void loadJournal();
    addEventListener('input', onInput, { once: true });
    const stopPreload = preloadChunksWhenIdle([loadJournal, ...GUEST_VIEWS]);
    return () => {
      removeEventListener('input', onInput);
      stopPreload();
    };
  }, [isGuest]);

  if (!screen) return <RedirectToLanding />;
  if (!ready) return failed ? <ChunkErrorScreen /> : <LoadingScreen />;
  const { layout, view } = ready;
  const content = (
    <ErrorBoundary key={path}>
      <Content path={path} view={view} />
    </ErrorBoundary>
  );
  return <LocationContext value={current}>{layout ? <layout.View>{content}</layout.View> : content}</LocationContext>;
}

/** Loads a new page: the landing page is a separate HTML document, not a route of the app. */
function RedirectToLanding() {
  useEffect(() => location.replace(ROUTES.landing.path), []);
  return <LoadingScreen />;
}

/** Mounts once the guard of the screen lets the user through. The journal dismisses its early page itself. */
function Content({ path, view }: { path: string; view: View }) {
  useDismissEarlyPage(path !== ROUTES.journal.path);
  return <view.View />;
}

/** The page that the app shows. It lags behind the page that the user wants while code loads. */
function useGuardedLocation(): Shown & { navigate: Navigate } {
  const loadChunk = useLoadChunk();
  const [shown, setShown] = useState(() => currentPage());
  const shownPosition = useRef(currentPosition());
  const latestId = useRef(0);
  const isReverting = useRef(false);

  const show = useCallback((failed = false): void => {
    shownPosition.current = currentPosition();
    setShown(currentPage(failed));
  }, []);

  /** Loads the next screen. A toast reports a failure. False if the user must stay where they are. */
  const loadLinked = useCallback(
    (screen: Screen, href: string, id: number): Promise<boolean> => {
      // Runs if a new release has deleted the chunk: loads the next screen as a new page, whose chunks exist.
      const leave = (): void => void (id === latestId.current && location.assign(href));
      return loadChunk(() => loadScreen(screen), true, leave);
    },
    [loadChunk],
  );

  const navigate: Navigate = useCallback(
    async (to, { replace = false, state = null } = {}) => {
      const id = ++latestId.current;
      const { pathname, href } = new URL(to, location.href);
      const screen = screenOf(pathname);
      let failed = false;
      if (screen && !isLoaded(screen)) {
        if (!replace) {
          if (!(await loadLinked(screen, href, id))) return;
        } else if (!(await tryLoad(() => loadScreen(screen)))) {
          // Guards, submitted forms and returns from a mail or PayPal replace the entry. The current screen then has
          // nothing left that the user needs, so the target may load as a new page.
          if (await isServerReachable()) return location.replace(href);
          failed = true;
        }
      }
      if (id !== latestId.current) return;
      const position = replace ? currentPosition() : currentPosition() + 1;
      history[replace ? 'replaceState' : 'pushState']({ ...state, position } satisfies EntryState, '', href);
      show(failed);
    },
    [loadLinked, show],
  );

  useEffect(() => {
    const onStep = async (): Promise<void> => {
      if (isReverting.current) return void (isReverting.current = false);
      const id = ++latestId.current;
      const { pathname, href } = location;
      const screen = screenOf(pathname);
      const mayShow = !screen || isLoaded(screen) || (await loadLinked(screen, href, id));
      if (id !== latestId.current) return;
      const steps = shownPosition.current - currentPosition();
      if (mayShow || steps === 0) return show();
      isReverting.current = true;
      history.go(steps);
    };
    const listener = (): void => void onStep();
    addEventListener('popstate', listener);
    return () => removeEventListener('popstate', listener);
  }, [loadLinked, show]);

  // Loads the first screen. The user has no other screen to stay on, so a failure shows `ChunkErrorScreen`.
  useEffect(() => {
    const screen = screenOf(location.pathname);
    if (!screen || isLoaded(screen)) return;
    const id = ++latestId.current;
    void tryLoad(() => loadScreen(screen)).then((loaded) => id === latestId.current && show(!loaded));
  }, [show]);

  return useMemo(() => ({ ...shown, navigate }), [shown, navigate]);
}

/** Lets the page request the fonts that the boot script holds back where no service worker has them. */
function useLateFonts(isScreenShown: boolean): void {
  useEffect(() => {
    if (!isScreenShown) return;
    const delay = performance.now() > SLOW_START_MS ? SLOW_SERIF_DELAY_MS : SERIF_DELAY_MS;
    const timer = setTimeout(() => delete document.documentElement.dataset['lateFonts'], delay);
    return () => clearTimeout(timer);
  }, [isScreenShown]);
}

/** Scrolls to the element that the hash names, or to the top of the new page. */
function useShowTarget(path: string, search: string, hash: string): void {
  const href = path + search + hash;
  const previousHref = useRef(href);
  useLayoutEffect(() => {
    if (previousHref.current === href) return;
    previousHref.current = href;
    if (hash) document.getElementById(hash.slice(1))?.scrollIntoView();
    else scrollTo(0, 0);
  }, [href, hash]);
}

/** Moves the focus to the new heading after a navigation, so that screen readers announce the page. */
function useFocusOnHeading(path: string | null): void {
  const previousPath = useRef(path);
  useEffect(() => {
    const hasNavigated = previousPath.current !== null && previousPath.current !== path;
    previousPath.current = path;
    if (hasNavigated) focusHeading();
  }, [path]);
}
